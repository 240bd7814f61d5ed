// Task templates and tags: texts that are used again.

import { useSuspenseQuery } from "@tanstack/react-query";
import { forge } from "../../../api/forge";
import { projectsQuery } from "../../../api/queries/project";
import { allTagsQuery, allTemplatesQuery } from "../../../api/queries/task";
import { SnippetList } from "./snippet-list";

export function Snippets() {
  const { data: projects } = useSuspenseQuery(projectsQuery());
  const templates = useSuspenseQuery(allTemplatesQuery());
  const tags = useSuspenseQuery(allTagsQuery());
  const projectName = (id: string | null): string =>
    projects.find((project) => project.id === id)?.name ?? "All projects";
  return (
    <>
      <SnippetList
        title="Task templates"
        about="Available in New task."
        noun="template"
        fields={[
          { key: "template_name", label: "Name" },
          { key: "title", label: "Task title" },
          { key: "description", label: "Description", rows: 6 },
        ]}
        scopes={[{ value: "", label: "All projects" }, ...projects.map(({ id, name }) => ({ value: id, label: name }))]}
        items={templates.data.map((template) => ({
          id: template.id,
          name: template.template_name,
          note: projectName(template.project_id),
          preview: template.title,
          values: {
            template_name: template.template_name,
            title: template.title,
            description: template.description ?? "",
          },
        }))}
        create={({ template_name = "", title = "", description = "", scope }) =>
          forge.createTaskTemplate({ template_name, title, description, project_id: scope || null })
        }
        update={(id, values) => forge.updateTaskTemplate(id, values)}
        remove={(id) => forge.deleteTaskTemplate(id)}
        onChanged={() => templates.refetch()}
      />
      <SnippetList
        title="Tags"
        about="Type @ and the tag's name in a prompt to insert its text."
        noun="tag"
        fields={[
          { key: "tag_name", label: "Name" },
          { key: "content", label: "Text", rows: 6 },
        ]}
        items={tags.data.map(({ id, tag_name, content }) => ({
          id,
          name: tag_name,
          preview: content,
          values: { tag_name, content },
        }))}
        create={({ tag_name = "", content = "" }) => forge.request("POST /api/tags", { body: { tag_name, content } })}
        update={(id, values) => forge.request("PUT /api/tags/{tag_id}", { path: { tag_id: id }, body: values })}
        remove={(id) => forge.request("DELETE /api/tags/{tag_id}", { path: { tag_id: id } })}
        onChanged={() => tags.refetch()}
      />
    </>
  );
}
