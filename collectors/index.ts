/** The dialects, in the order in which they read a span: specific before generic. */
import type { Collector } from './collector.ts';
import { genAi } from './gen-ai.ts';
import { openInference } from './openinference.ts';
import { toolAttributes } from './tool-attributes.ts';
import { vercelAi } from './vercel-ai.ts';

export const collectors: readonly Collector[] = [vercelAi, openInference, genAi, toolAttributes];
