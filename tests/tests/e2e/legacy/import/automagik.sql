-- automagik-forge 0.7: ids are bytes, but text in drafts; one row per log; a rollback journal.
CREATE TABLE projects (id BLOB PRIMARY KEY, name TEXT NOT NULL, git_repo_path TEXT NOT NULL DEFAULT '' UNIQUE,
  setup_script TEXT DEFAULT '', dev_script TEXT DEFAULT '', cleanup_script TEXT, copy_files TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE tasks (id BLOB PRIMARY KEY, project_id BLOB NOT NULL, title TEXT NOT NULL, description TEXT,
  status TEXT NOT NULL DEFAULT 'todo', parent_task_attempt BLOB, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  dev_server_id BLOB);
CREATE TABLE task_attempts (id BLOB PRIMARY KEY, task_id BLOB NOT NULL, executor TEXT, created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL, target_branch TEXT NOT NULL DEFAULT 'main', worktree_deleted BOOLEAN NOT NULL DEFAULT FALSE,
  setup_completed_at DATETIME, container_ref TEXT, branch TEXT NOT NULL DEFAULT 'main', input_tokens INTEGER,
  base_branch TEXT NOT NULL DEFAULT 'main');
CREATE TABLE execution_processes (id BLOB PRIMARY KEY, task_attempt_id BLOB NOT NULL, status TEXT NOT NULL DEFAULT 'running',
  exit_code INTEGER, started_at TEXT NOT NULL, completed_at TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  run_reason TEXT NOT NULL DEFAULT 'setupscript', executor_action TEXT NOT NULL DEFAULT '',
  executor_action_type TEXT GENERATED ALWAYS AS (json_extract(executor_action, '$.typ.type')) VIRTUAL,
  dropped BOOLEAN NOT NULL DEFAULT 0, after_head_commit TEXT, before_head_commit TEXT);
CREATE TABLE executor_sessions (id BLOB PRIMARY KEY, task_attempt_id BLOB NOT NULL, execution_process_id BLOB NOT NULL,
  session_id TEXT, prompt TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, summary TEXT);
CREATE TABLE execution_process_logs (execution_id BLOB PRIMARY KEY, logs TEXT NOT NULL, byte_size INTEGER NOT NULL,
  inserted_at TEXT NOT NULL);
CREATE TABLE images (id BLOB PRIMARY KEY, file_path TEXT NOT NULL, original_name TEXT NOT NULL, mime_type TEXT,
  size_bytes INTEGER, hash TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE task_images (id BLOB PRIMARY KEY, task_id BLOB NOT NULL, image_id BLOB NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE merges (id BLOB PRIMARY KEY, task_attempt_id BLOB NOT NULL, merge_type TEXT NOT NULL, merge_commit TEXT,
  pr_number INTEGER, pr_url TEXT, pr_status TEXT, pr_merged_at TEXT, pr_merge_commit_sha TEXT, created_at TEXT NOT NULL,
  target_branch_name TEXT NOT NULL);
CREATE TABLE drafts (id TEXT PRIMARY KEY, task_attempt_id TEXT NOT NULL, draft_type TEXT NOT NULL, retry_process_id TEXT,
  prompt TEXT NOT NULL DEFAULT '', queued INTEGER NOT NULL DEFAULT 0);
CREATE TABLE tags (id BLOB PRIMARY KEY, tag_name TEXT NOT NULL, content TEXT NOT NULL, created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL);
CREATE TABLE forge_task_attempt_config (task_attempt_id TEXT PRIMARY KEY NOT NULL, use_worktree BOOLEAN NOT NULL DEFAULT 1);

INSERT INTO projects VALUES (X'00000000000040008000000000000001', 'Website', '{repo}', 'echo setup', '', NULL, '.env',
  '2025-06-17 20:08:15.631', '2025-06-18 20:08:15.631');
INSERT INTO tasks VALUES (X'00000000000040008000000000000011', X'00000000000040008000000000000001', 'Fix the login',
  'See ![shot](.forge-images/old-shot.png)', 'inreview', NULL, '2025-06-19 08:00:00.000', '2025-06-20 08:00:00.000', NULL);
INSERT INTO tasks VALUES (X'00000000000040008000000000000010', X'00000000000040008000000000000001', 'Came from it', NULL, 'todo',
  X'0000000000004000800000000000a021', '2025-06-18 08:00:00.000', '2025-06-18 08:00:00.000', NULL);
INSERT INTO task_attempts (id, task_id, executor, created_at, updated_at, container_ref, branch) VALUES
  (X'0000000000004000800000000000a021', X'00000000000040008000000000000011', 'CLAUDE_CODE', '2025-06-19 08:01:00.000',
   '2025-06-19 09:00:00.000', '{old}', 'forge/a021-fix-the-login'),
  (X'0000000000004000800000000000a022', X'00000000000040008000000000000011', 'SCRIPTED', '2025-06-19 08:02:00.000',
   '2025-06-19 09:00:00.000', NULL, 'forge/a022-fix-the-login');
INSERT INTO execution_processes (id, task_attempt_id, status, exit_code, started_at, completed_at, created_at, updated_at,
  run_reason, executor_action, after_head_commit) VALUES
  (X'00000000000040008000000000000031', X'0000000000004000800000000000a021', 'completed', 0,
   '2025-06-19T08:01:01.5+00:00', '2025-06-19T08:01:02+00:00', '2025-06-19', '2025-06-19', 'setupscript',
   '{"typ":{"type":"ScriptRequest","script":"echo setup","language":"Bash","context":"SetupScript"},"next_action":null}', NULL),
  (X'00000000000040008000000000000032', X'0000000000004000800000000000a021', 'completed', 0,
   '2025-06-19T08:01:03+00:00', '2025-06-19T08:05:00+00:00', '2025-06-19', '2025-06-19', 'codingagent',
   '{"typ":{"type":"CodingAgentInitialRequest","prompt":"Fix the login","executor_profile_id":{"executor":"CLAUDE_CODE"}},"next_action":null}',
   'abc'),
  (X'00000000000040008000000000000033', X'0000000000004000800000000000a022', 'running', NULL,
   '2025-06-19T08:02:03+00:00', NULL, '2025-06-19', '2025-06-19', 'codingagent',
   '{"typ":{"type":"CodingAgentInitialRequest","prompt":"Try again","executor_profile_id":{"executor":"SCRIPTED"}},"next_action":null}',
   NULL);
INSERT INTO executor_sessions VALUES (X'00000000000040008000000000000041', X'0000000000004000800000000000a021',
  X'00000000000040008000000000000032', 'conversation-7', 'Fix the login', '2025-06-19', '2025-06-19', 'The login works.');
INSERT INTO execution_process_logs VALUES (X'00000000000040008000000000000031', '{"Stdout":"setup\n"}' || char(10), 21, ''),
  (X'00000000000040008000000000000032', '{"Stdout":"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",'
   || '\"content\":[{\"type\":\"te"}' || char(10) || '{"Stdout":"xt\",\"text\":\"The login works.\"}]}}\n"}' || char(10)
   || '{"Stderr":"a warning\n"}' || char(10) || '"Finished"' || char(10), 200, '');
INSERT INTO images VALUES (X'00000000000040008000000000000051', 'old-shot.png', 'shot.png', 'image/png', 4, 'h1', '2025', '2025'),
  (X'00000000000040008000000000000052', 'gone.png', 'gone.png', 'image/png', 4, 'h2', '2025', '2025');
INSERT INTO task_images VALUES (X'61', X'00000000000040008000000000000011', X'00000000000040008000000000000051', ''),
  (X'62', X'00000000000040008000000000000011', X'00000000000040008000000000000052', '');
INSERT INTO merges VALUES (X'00000000000040008000000000000071', X'0000000000004000800000000000a021', 'direct', 'abc', NULL, NULL,
  NULL, NULL, NULL, '2025-06-20 08:00:00', 'main');
INSERT INTO drafts VALUES ('d', '00000000-0000-4000-8000-00000000a022', 'follow_up', NULL, 'and then this', 1);
INSERT INTO tags VALUES (X'00000000000040008000000000000081', 'bug', 'Look for the cause', '2025-06-17', '2025-06-17');
