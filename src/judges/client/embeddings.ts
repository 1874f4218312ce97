/** One request to an embeddings endpoint, and what it came to. No retry here. */
import { readVectors, type Vector } from '../../../evaluators/matching/vectors.ts';
import type { JsonValue } from '../../model/json.ts';
import { field } from './connection-fault.ts';
import { openAiClient, troubleOf, type Failed, type Refused } from './openai-client.ts';
import type { Tokens } from '../../model/budget.ts';
import type { Busy } from '../../runtime/retry.ts';
import type { JudgeSettings } from '../settings.ts';

export type Embedded =
  | { readonly kind: 'vectors'; readonly vectors: readonly Vector[]; readonly tokens: Tokens | undefined }
  | Busy
  | Refused
  | Failed;

export type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<Embedded>;

/** `textsPerRequest` vectors of some thousand numbers with twenty digits each. */
const answerBytesMax = 8 * 1024 * 1024;
export const textsPerRequest = 16;

export function embeddings(settings: JudgeSettings): Embed {
  const client = openAiClient(settings, answerBytesMax);
  return async (texts, signal) => {
    try {
      return embeddedOf(
        await (await client).embeddings.create({ model: settings.model, input: [...texts], encoding_format: 'float' }, { signal }),
        texts.length,
      );
    } catch (error) {
      return await troubleOf(error);
    }
  };
}

/** The body is whatever the endpoint sent: its declared type is a hope. */
function embeddedOf(body: unknown, texts: number): Embedded {
  const data = field(body, 'data');
  const read = readVectors(Array.isArray(data) ? inOrder(data).map((entry) => field(entry, 'embedding') as JsonValue) : undefined, texts);
  if (read.kind === 'faulty') return { kind: 'failed', error: `judge_answer_invalid: ${read.fault}`, mayCost: true };
  const inputTokens = field(field(body, 'usage'), 'prompt_tokens');
  return {
    kind: 'vectors',
    vectors: read.vectors,
    tokens: typeof inputTokens === 'number' ? { input: inputTokens, output: 0 } : undefined,
  };
}

/** By the index that each names, where all do. */
function inOrder(data: readonly unknown[]): readonly unknown[] {
  const byIndex = new Map(data.map((entry) => [field(entry, 'index'), entry]));
  const ordered = data.map((_, at) => byIndex.get(at));
  return ordered.includes(undefined) ? data : ordered;
}
