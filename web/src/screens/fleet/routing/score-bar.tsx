// A score of 0 to 100 as a bar of its parts. Who cannot see it hears the parts.

import type { ScoreComponents } from "@forge/client";
import { cx } from "../../../ui/class";

export const SCORE_PARTS = [
  { part: "priority", title: "Priority", most: 40, fill: "bg-accent" },
  { part: "type", title: "Type", most: 30, fill: "bg-info" },
  { part: "complexity", title: "Difficulty", most: 15, fill: "bg-review" },
  { part: "availability", title: "Somebody is free", most: 15, fill: "bg-good" },
] as const;

export const totalOf = (score: ScoreComponents): number =>
  score.priority + score.type + score.complexity + score.availability;

export function ScoreBar({ score }: { score: ScoreComponents }) {
  const parts = SCORE_PARTS.map(({ part, title }) => `${title.toLowerCase()} ${score[part]}`).join(", ");
  return (
    <span className="inline-flex items-center gap-2" title={parts}>
      <span className="w-6 text-right tabular">
        {totalOf(score)}
        <span className="sr-only"> of 100: {parts}</span>
      </span>
      <span aria-hidden className="flex h-1.5 w-20 gap-px overflow-hidden rounded-full bg-press">
        {SCORE_PARTS.map(({ part, fill }) => (
          <span key={part} className={cx("h-full", fill)} style={{ width: `${score[part]}%` }} />
        ))}
      </span>
    </span>
  );
}
