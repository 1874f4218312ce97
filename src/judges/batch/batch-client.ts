/** What a judge gives to whoever puts its questions together: the way to its endpoint, the lines of files, and what answers mean. */
import type { Question } from '../../../evaluators/evaluator.ts';
import type { Tokens } from '../../model/budget.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { batchApi, type BatchApi } from './batch-client-api.ts';
import { batchLine } from './batch-jsonl.ts';
import { chatBody } from '../client/completion.ts';
import type { Judge } from '../judge.ts';
import { mostOf, openingOf, ownAnswer, schemaNameOf } from '../client/prompt-request.ts';
import type { AnswerFormat, JudgeSettings } from '../settings.ts';

export interface BatchSide {
  readonly api: BatchApi;
  line(question: Question, custom: string): { readonly text: string; readonly most: Tokens };
  /** The most that a question uses, by our own count. */
  most(question: Question): Tokens;
  /** Undefined: it cannot be used. */
  read(question: Question, text: string): { readonly value: JsonValue; readonly truncated: boolean } | undefined;
}

/** One whose endpoint takes many questions at once, and answers later. */
export interface BatchingJudge extends Judge {
  readonly batches: BatchSide;
}

interface BatchSideOptions {
  readonly settings: JudgeSettings;
  readonly nonce: () => string;
  /** As far as the endpoint is known. */
  readonly format: () => AnswerFormat;
  readonly signal: AbortSignal;
}

export function batchSide({ settings, nonce, format, signal }: BatchSideOptions): BatchSide {
  return {
    api: batchApi(settings, signal),
    line(question, custom) {
      const { messages } = openingOf(question, nonce());
      const as = format();
      const body = chatBody(settings, { messages, format: as, schema: question.answerSchema, schemaName: schemaNameOf(question) });
      return { text: batchLine(custom, body as unknown as JsonObject), most: mostOf(settings, question, messages, as) };
    },
    // In which format it went is not known any more: `tool_call` takes the most.
    most: (question) => mostOf(settings, question, openingOf(question, '').messages, 'tool_call'),
    read(question, text) {
      const read = ownAnswer(question, text);
      return read.kind === 'answered' && read.fault === undefined
        ? { value: read.value, truncated: openingOf(question, '').truncated }
        : undefined;
    },
  };
}
