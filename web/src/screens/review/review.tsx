interface Props {
  projectId: string;
  taskId: string;
  attemptId: string;
}

export function Review({ attemptId }: Props) {
  return <p>{attemptId}</p>;
}
