/** The kinds of judges. */
import type { Judge } from './judge.ts';
import { openAiCompatibleJudge } from './openai-compatible.ts';
import type { JudgeDeps, JudgeSettings } from './settings.ts';

export const judges = {
  openai_compatible: openAiCompatibleJudge,
} as const satisfies { readonly [kind: string]: (settings: JudgeSettings, parts: JudgeDeps) => Judge };
