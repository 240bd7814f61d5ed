import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { buttonClass } from "../ui/button";
import { Empty, Failure } from "../ui/state";
import { Page } from "./page";

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty
        icon={<Compass aria-hidden />}
        title="Page not found"
        action={
          <Link to="/projects" className={buttonClass("primary")}>
            Projects
          </Link>
        }
      >
        It may have been moved or deleted.
      </Empty>
    </Page>
  );
}

export function RouteFailure({ error, reset }: ErrorComponentProps) {
  return <Failure error={error} onRetry={reset} />;
}
