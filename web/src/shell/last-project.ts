// The project that was open last, so that `/` opens where one was.

const KEY = "forge.project";

export const lastProject = (): string | undefined => localStorage.getItem(KEY) ?? undefined;
export const rememberProject = (id: string): void => localStorage.setItem(KEY, id);
export const forgetProject = (): void => localStorage.removeItem(KEY);
