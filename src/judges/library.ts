/** `tracejury/judges`: the judge of the service for programs, what it is asked in which words, and how its answers are read. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { ReadAnswer } from '../../evaluators/judging/answers.ts';
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import type { Sleep } from '../model/clock.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import { openAiCompatibleJudge as judgeOf } from './openai-compatible.ts';
import { openingOf, ownAnswer, type Opening } from './client/prompt.ts';
import { settingsOf, type OpenAiCompatibleOptions } from './options.ts';

/** For `evaluate` and `experiment`. Every fault of its endpoint is an answer of kind `failed`: nothing rejects. */
export interface OpenAiCompatibleJudge {
  readonly name: string;
  readonly model: string;
  ask(question: Question): Promise<Answer>;
  /** The vectors of texts, from a model for embeddings. */
  embed(request: EmbeddingRequest): Promise<Answer>;
  /** Gives up what is under way; further questions fail as `judge_stopped`. */
  stop(): Promise<void>;
}

const stopped = { kind: 'failed', error: 'judge_stopped: stop() was called before' } as const;

/**
 * The judge of the service behind any endpoint that speaks OpenAI's chat completions or embeddings. A faulty answer is asked for once more with the fault named, and a busy
 * endpoint is asked again. Throws a TypeError that names every option that is wrong.
 */
export function openAiCompatibleJudge(options: OpenAiCompatibleOptions): OpenAiCompatibleJudge {
  const settings = settingsOf(options);
  const judge = judgeOf(settings, {
    telemetry: noTelemetry,
    clock: { nowMs: () => Date.now() },
    sleep: options.sleep ?? machineSleep,
    random: Math.random,
    nonce: freshCode,
  });
  let isStopped = false;
  return {
    name: settings.name,
    model: settings.model,
    ask: async (question) => (isStopped ? stopped : await judge.ask(question)),
    embed: async (request) => (isStopped ? stopped : await judge.embed(request)),
    async stop() {
      isStopped = true;
      await judge.stop();
    },
  };
}

/**
 * The messages that the judge sends for a question, and whether something of the run was cut from them. `code` fences the texts of the run: a fresh one for every prompt, which
 * no run can know. Give your own only to compare or to record prompts.
 */
export function promptMessages(question: Question, code: string = freshCode()): Opening {
  if (!/^[A-Za-z0-9_-]{8,64}$/.test(code))
    throw new TypeError('promptMessages: code must be 8 to 64 letters, digits, dashes and underscores; leave it out for a fresh one.');
  return openingOf(question, code);
}

/**
 * What a model answered to a question, as strictly as the judge reads it: the only verdict in the text that satisfies the schema, and none that merely stands in what the
 * model was shown. `fault`: usable, but not all that was asked for; worth asking once more.
 */
export function readAnswer(text: string, question: Question): ReadAnswer {
  return ownAnswer(question, text);
}

function freshCode(): string {
  return randomBytes(12).toString('hex');
}

const machineSleep: Sleep = async (ms, signal) => {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};

export type { OpenAiCompatibleOptions } from './options.ts';
export type { Opening as PromptMessages } from './client/prompt.ts';
export type { Message } from './client/completion.ts';
export type { ReadAnswer } from '../../evaluators/judging/answers.ts';
export type { Answer, DataBlock, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
