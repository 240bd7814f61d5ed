export const NewTask = (_: { projectId: string; open: boolean; onOpenChange: (open: boolean) => void }) => null;
