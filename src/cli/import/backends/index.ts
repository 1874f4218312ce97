/** The backends by the name of `--from`. A new one is a file and a line here. */
import type { ImportBackend } from './backend.ts';
import { jaeger } from './jaeger.ts';
import { langfuse } from './langfuse.ts';
import { mlflow } from './mlflow.ts';
import { phoenix } from './phoenix.ts';
import { tempo } from './tempo.ts';

export const importBackends: { readonly [name: string]: ImportBackend } = { phoenix, mlflow, langfuse, jaeger, tempo };
