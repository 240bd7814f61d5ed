// The sections of the settings, in the order of the side list. Their names are part of the address.

import {
  Bell,
  Bot,
  Code,
  FolderGit2,
  GitPullRequest,
  Info,
  type LucideIcon,
  Palette,
  Server,
  TextQuote,
  Wallet,
} from "lucide-react";

export interface Section {
  id: string;
  title: string;
  about: string;
  icon: LucideIcon;
}

export const SECTIONS = [
  { id: "agents", title: "Agents", about: "Choose and configure agents.", icon: Bot },
  { id: "projects", title: "Projects", about: "What each repository needs before and after a task.", icon: FolderGit2 },
  { id: "notifications", title: "Notifications", about: "How Forge asks for your attention.", icon: Bell },
  { id: "editor", title: "Editor", about: "What opens when you open a worktree or a file.", icon: Code },
  { id: "github", title: "GitHub", about: "Pull requests, issues and branches.", icon: GitPullRequest },
  { id: "budget", title: "Budget", about: "What agents may cost, and what happens at the limit.", icon: Wallet },
  { id: "fleet", title: "Fleet", about: "Workers that live in tmux, and the beads they work on.", icon: Server },
  { id: "snippets", title: "Snippets", about: "Reusable text for tasks and prompts.", icon: TextQuote },
  { id: "appearance", title: "Appearance", about: "How this page looks in this browser.", icon: Palette },
  { id: "about", title: "About", about: "Version, docs and imports.", icon: Info },
] as const satisfies readonly Section[];

export type SectionId = (typeof SECTIONS)[number]["id"];
