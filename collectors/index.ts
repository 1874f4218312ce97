/** The dialects, in the order in which they read a span: specific before generic. */
import type { Collector } from './collector.ts';
import { toolAttributes } from './tool-attributes.ts';

export const collectors: readonly Collector[] = [toolAttributes];
