// The project that was open last, so that `/` opens where one was.

import { keepWord, keptWord } from "../kept/kept";

export const lastProject = (): string | undefined => keptWord("project");
export const rememberProject = (id: string): void => keepWord("project", id);
export const forgetProject = (): void => keepWord("project", undefined);
