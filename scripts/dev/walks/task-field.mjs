// A field of a task: a note, stored, on the wire, for MCP clients and on the command line.

const REQUEST = "crates/types/src/request.rs";
const TOOLS = "crates/server/src/mcp/tasks.rs";
const ADD = "crates/cli/src/command/task.rs";
const EDIT = "crates/cli/src/command/task/edit.rs";

const FLAG = "    /// A note beside the description\n    #[arg(long)]\n    note: Option<String>,";

export default {
  title: "a task field",
  goal: "at most 14 Rust files",
  edits: [
    {
      file: "crates/types/src/task.rs",
      after: "    pub labels: Vec<String>,",
      text: '    #[serde(default, skip_serializing_if = "Option::is_none")]\n    pub note: Option<String>,',
    },
    { file: "crates/types/src/task.rs", after: "            labels: Vec::new(),", text: "            note: None," },
    { file: REQUEST, after: "    pub labels: Option<Vec<String>>,", text: "    pub note: Option<String>," },
    { file: REQUEST, after: "            labels: None,", text: "            note: None," },

    { file: "crates/store/migrations/9999_note.sql", create: "ALTER TABLE tasks ADD COLUMN note TEXT;\n" },
    { file: "crates/store/src/table.rs", after: "set labels: Json,", text: "        set note," },

    { file: "crates/core/src/task/mod.rs", after: "labels: label::check(", text: "        note: request.note," },
    {
      file: "crates/core/src/task/mod.rs",
      after: "task.labels = ",
      text: "        task.note = request.note.or(task.note);",
    },

    {
      file: TOOLS,
      after: "    labels: Option<Vec<String>>,",
      text: "    /// A note beside the description.\n    note: Option<String>,",
    },
    { file: TOOLS, after: "labels: arguments.labels,", text: "        note: arguments.note," },

    { file: ADD, after: "    labels: Vec<String>,", text: FLAG },
    { file: ADD, after: '"labels": new.labels,', text: '        "note": new.note,' },
    { file: EDIT, after: "    labels: Vec<String>,", text: FLAG },
    {
      file: EDIT,
      after: "body.extend(change.status.map(",
      text: '    body.extend(change.note.map(|note| ("note".to_owned(), json!(note))));',
    },
  ],
};
