-- vibe-kanban in the summer of 2025: output in the process's own row, merges in the attempt's, task templates.
CREATE TABLE projects (id BLOB PRIMARY KEY, name TEXT NOT NULL, git_repo_path TEXT NOT NULL DEFAULT '' UNIQUE,
  setup_script TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE tasks (id BLOB PRIMARY KEY, project_id BLOB NOT NULL, title TEXT NOT NULL, description TEXT, status TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE task_attempts (id BLOB PRIMARY KEY, task_id BLOB NOT NULL, worktree_path TEXT NOT NULL, merge_commit TEXT,
  executor TEXT, branch TEXT NOT NULL, base_branch TEXT NOT NULL, pr_url TEXT, pr_number INTEGER, pr_status TEXT,
  pr_merged_at DATETIME, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE execution_processes (id BLOB PRIMARY KEY, task_attempt_id BLOB NOT NULL, process_type TEXT NOT NULL,
  executor_type TEXT, status TEXT NOT NULL, command TEXT NOT NULL, args TEXT, working_directory TEXT NOT NULL, stdout TEXT,
  stderr TEXT, exit_code INTEGER, started_at TEXT NOT NULL, completed_at TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE task_templates (id BLOB PRIMARY KEY, project_id BLOB, title TEXT NOT NULL, description TEXT,
  template_name TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);

INSERT INTO projects VALUES (X'00000000000040008000000000000001', 'Gone', '/nowhere/at/all', NULL, '2025-07-01 08:00:00', '2025-07-01');
INSERT INTO tasks VALUES (X'00000000000040008000000000000011', X'00000000000040008000000000000001', 'Old task', NULL, 'blocked',
  '2025-07-01 08:00:00', '2025-07-01 08:00:00');
INSERT INTO task_attempts VALUES (X'00000000000040008000000000000021', X'00000000000040008000000000000011', '/tmp/old/tree', NULL,
  'echo', 'vk-21-old-task', 'main', 'https://host.example/pull/3', 3, 'merged', '2025-07-02 08:00:00', '2025-07-01 08:00:00',
  '2025-07-01 09:00:00');
INSERT INTO execution_processes VALUES (X'00000000000040008000000000000031', X'00000000000040008000000000000021', 'setupscript', NULL,
  'failed', 'bash', NULL, '/tmp', 'printed' || char(10), 'complained' || char(10), 2, '2025-07-01 08:00:01', '2025-07-01 08:00:02', '', '');
INSERT INTO task_templates VALUES (X'00000000000040008000000000000091', NULL, 'Chore', 'words', 'chore', '2025-07-01', '2025-07-01'),
  (X'00000000000040008000000000000092', X'00000000000040008000000000000001', 'Own', NULL, 'own', '2025-07-01', '2025-07-01');
