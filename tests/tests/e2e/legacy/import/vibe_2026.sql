-- vibe-kanban in 2026: repositories, workspaces with sessions, logs in files or in many rows, a write-ahead log.
PRAGMA journal_mode = WAL;
CREATE TABLE projects (id BLOB PRIMARY KEY, name TEXT NOT NULL, remote_project_id BLOB, created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL);
CREATE TABLE repos (id BLOB PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, display_name TEXT NOT NULL,
  setup_script TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE project_repos (id BLOB PRIMARY KEY, project_id BLOB NOT NULL, repo_id BLOB NOT NULL);
CREATE TABLE tasks (id BLOB PRIMARY KEY, project_id BLOB NOT NULL, title TEXT NOT NULL, description TEXT, status TEXT NOT NULL,
  parent_workspace_id BLOB, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE workspaces (id BLOB PRIMARY KEY, task_id BLOB, container_ref TEXT, branch TEXT NOT NULL, name TEXT,
  archived INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE workspace_repos (id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL, repo_id BLOB NOT NULL, target_branch TEXT NOT NULL);
CREATE TABLE sessions (id BLOB PRIMARY KEY, workspace_id BLOB NOT NULL, executor TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE execution_processes (id BLOB PRIMARY KEY, session_id BLOB NOT NULL, run_reason TEXT NOT NULL,
  executor_action TEXT NOT NULL, status TEXT NOT NULL, exit_code INTEGER, dropped INTEGER NOT NULL DEFAULT 0,
  started_at TEXT NOT NULL, completed_at TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE execution_process_logs (execution_id BLOB NOT NULL, logs TEXT NOT NULL, byte_size INTEGER NOT NULL, inserted_at TEXT);
CREATE TABLE execution_process_repo_states (id BLOB PRIMARY KEY, execution_process_id BLOB NOT NULL, repo_id BLOB NOT NULL,
  before_head_commit TEXT, after_head_commit TEXT);
CREATE TABLE coding_agent_turns (id BLOB PRIMARY KEY, execution_process_id BLOB NOT NULL, agent_session_id TEXT, prompt TEXT,
  summary TEXT);
CREATE TABLE tracked_prs (id TEXT PRIMARY KEY, workspace_id BLOB, repo_id BLOB, pr_url TEXT NOT NULL UNIQUE,
  pr_number INTEGER NOT NULL, pr_status TEXT NOT NULL, target_branch_name TEXT NOT NULL, merged_at TEXT, merge_commit_sha TEXT,
  created_at DATETIME NOT NULL);

INSERT INTO projects VALUES (X'00000000000040008000000000000001', 'Two repos', NULL, '2026-01-01 08:00:00', '2026-01-01 08:00:00');
INSERT INTO repos VALUES (X'00000000000040008000000000000002', '{repo}', 'repo', 'The repo', 'make', '2026-01-01', '2026-01-01'),
  (X'00000000000040008000000000000003', '/other', 'other', 'Other', NULL, '2026-01-01', '2026-01-01');
INSERT INTO project_repos VALUES (X'01', X'00000000000040008000000000000001', X'00000000000040008000000000000002'),
  (X'02', X'00000000000040008000000000000001', X'00000000000040008000000000000003');
INSERT INTO tasks VALUES (X'00000000000040008000000000000011', X'00000000000040008000000000000001', 'New age', NULL, 'done', NULL,
  '2026-01-02 08:00:00', '2026-01-02 08:00:00');
INSERT INTO workspaces VALUES (X'00000000000040008000000000000021', X'00000000000040008000000000000011', '/tmp/old', 'vk/new-age', NULL, 0,
  '2026-01-02 08:00:00', '2026-01-02 09:00:00'),
  (X'00000000000040008000000000000022', NULL, '/tmp/lone', 'vk/lone', 'A lone workspace', 0, '2026-01-03 08:00:00', '2026-01-03 09:00:00');
INSERT INTO workspace_repos VALUES (X'01', X'00000000000040008000000000000021', X'00000000000040008000000000000002', 'trunk'),
  (X'02', X'00000000000040008000000000000022', X'00000000000040008000000000000002', 'main');
INSERT INTO sessions VALUES (X'00000000000040008000000000000061', X'00000000000040008000000000000021', 'CODEX', '', '');
INSERT INTO execution_processes VALUES
  (X'00000000000040008000000000000031', X'00000000000040008000000000000061', 'archivescript',
   '{"typ":{"type":"ScriptRequest","script":"tidy","language":"Bash","context":"ArchiveScript"},"next_action":null}',
   'completed', 0, 0, '2026-01-02 08:00:01', '2026-01-02 08:00:02', '', ''),
  (X'00000000000040008000000000000032', X'00000000000040008000000000000061', 'codingagent',
   '{"typ":{"type":"CodingAgentInitialRequest","prompt":"p","executor_config":{"executor":"CODEX","variant":"HIGH"}}}',
   'completed', 0, 0, '2026-01-02 08:00:03', '2026-01-02 08:00:04', '', '');
INSERT INTO execution_process_logs VALUES
  (X'00000000000040008000000000000031', '{"Stdout":"first\n"}' || char(10), 20, ''),
  (X'00000000000040008000000000000031', '{"Stdout":"second\n"}' || char(10), 20, '');
INSERT INTO execution_process_repo_states VALUES (X'01', X'00000000000040008000000000000032', X'00000000000040008000000000000002', 'b', 'a');
INSERT INTO coding_agent_turns VALUES (X'01', X'00000000000040008000000000000032', 'thread-1', 'p', 'Done it.');
INSERT INTO tracked_prs VALUES ('000000000000400080000000000000AA', X'00000000000040008000000000000021', NULL,
  'https://host.example/pull/9', 9, 'closed', 'trunk', NULL, NULL, '2026-01-04 08:00:00');
