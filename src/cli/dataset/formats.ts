/** The formats that can be imported, in the order of the usage text. */
import { adk } from './adk.ts';
import { agentevals } from './agentevals.ts';
import { deepeval } from './deepeval.ts';
import { dokimos } from './dokimos.ts';
import type { SetFormat } from './set-format.ts';

export const setFormats: readonly SetFormat[] = [deepeval, agentevals, adk, dokimos];
