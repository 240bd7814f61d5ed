// Templates of the project and of everywhere, to begin a task with.

import type { TaskTemplate } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { LayoutTemplate } from "lucide-react";
import { templatesQuery } from "../../api/queries/task";
import { Button } from "../../ui/button";
import { Menu, MenuItem, MenuLabel } from "../../ui/menu";

interface Props {
  projectId: string;
  onChoose: (template: TaskTemplate) => void;
}

export function TemplateMenu({ projectId, onChoose }: Props) {
  const { data } = useQuery(templatesQuery(projectId));
  const groups = [
    { title: "This project", templates: data?.own ?? [] },
    { title: "Every project", templates: data?.shared ?? [] },
  ].filter(({ templates }) => templates.length > 0);
  if (groups.length === 0) return null;
  const trigger = (
    <Button weight="ghost" icon={<LayoutTemplate className="size-4" aria-hidden />}>
      Template
    </Button>
  );
  return (
    <Menu trigger={trigger}>
      {groups.map(({ title, templates }) => (
        <div key={title}>
          <MenuLabel>{title}</MenuLabel>
          {templates.map((template) => (
            <MenuItem key={template.id} onSelect={() => onChoose(template)}>
              {template.template_name}
            </MenuItem>
          ))}
        </div>
      ))}
    </Menu>
  );
}
