/** A judge behind any endpoint that speaks OpenAI's chat completions or embeddings: hosted models, vLLM, Ollama, LiteLLM and others. */
import type { Answer, Question } from '../../evaluators/evaluator.ts';
import { httpClient } from '../http/http-client.ts';
import { rateReservation } from './budget/rate-window.ts';
import type { BudgetReservation, Tokens } from '../model/budget.ts';
import type { JsonValue } from '../model/json.ts';
import { batchClient, type BatchingJudge } from './batch/batch-client.ts';
import { callRecord, type CallRecord } from './client/call-record.ts';
import { chatCompletions, type Completion, type Message } from './client/completion.ts';
import type { RefusableMember } from './client/openai-client.ts';
import { requestChain } from './judge-chain.ts';
import { embedder } from './client/embedder.ts';
import type { RetryPolicy } from '../runtime/retry.ts';
import { mostOf, openingOf, ownAnswer, schemaNameOf, correctionText } from './client/prompt.ts';
import { type AnswerFormat, answerFormats, type JudgeDeps, type JudgeSettings } from './judge.ts';
import { concurrencyLimiter } from '../runtime/concurrency-limiter.ts';

/** Retries of one request while the endpoint is busy. */
const retriesDefault = 4;
/** The first answer and one correction. */
const answersMax = 2;
/** Waiting questions for each question in progress. */
const waitingPerSlot = 100;
const overloaded = { kind: 'failed', error: 'judge_overloaded: too many questions are waiting' } as const;

/** One question, with the record and the budget of its requests. */
interface Asking {
  readonly question: Question;
  /** Budget of the evaluator that asks. */
  readonly budget: BudgetReservation | undefined;
  readonly record: CallRecord;
}

interface Replied {
  readonly completion: Exclude<Completion, { kind: 'busy' | 'refused' }>;
  readonly tokens: Tokens | undefined;
}

/** A judge without an executor: a limiter bounds its questions. */
export function openAiCompatibleJudge(settings: JudgeSettings, parts: JudgeDeps): BatchingJudge {
  const client = openAiCompatibleClient(settings, parts);
  const { concurrency } = settings;
  const limiter = concurrencyLimiter({ concurrency: () => concurrency, waitingMax: concurrency * waitingPerSlot });
  const limited = async (work: () => Promise<Answer>): Promise<Answer> => {
    const answer = await limiter.run(work);
    if (answer !== undefined) return answer;
    parts.telemetry.add('tracejury.judge.requests', 1, { 'tracejury.judge': settings.name, 'tracejury.outcome': 'failed' });
    return overloaded;
  };
  return {
    ...client,
    ask: async (...question) => await limited(() => client.ask(...question)),
    embed: async (...request) => await limited(() => client.embed(...request)),
    async stop() {
      limiter.close();
      await client.stop();
    },
  };
}

/** Has no limiter: the caller holds a slot. */
export function openAiCompatibleClient(settings: JudgeSettings, parts: JudgeDeps): BatchingJudge {
  const http = httpClient({ tls: settings.tls });
  const complete = chatCompletions(settings, http, parts.onNoConnection);
  const stopping = new AbortController();
  /** The strictest format that the endpoint is not known to refuse. */
  let format: AnswerFormat = settings.answerFormat ?? 'json_schema';
  const refused = new Set<RefusableMember>();

  function count(outcome: 'answered' | 'failed' | 'retried'): void {
    parts.telemetry.add('tracejury.judge.requests', 1, { 'tracejury.judge': settings.name, 'tracejury.outcome': outcome });
  }

  const onDisbelief = (): void => parts.telemetry.add('tracejury.judge.usage.disbelieved', 1, { 'tracejury.judge': settings.name });
  const retry: RetryPolicy = {
    attemptsMax: 1 + (settings.retries ?? retriesDefault),
    ...parts,
    onRetry(busy) {
      count('retried');
      parts.onRetry?.(settings.name, busy);
    },
    signal: stopping.signal,
    stopped: 'judge_stopped: the service is stopping',
    parseDate: Date.parse,
  };
  const onReply = (error: string | undefined): void => parts.onReply?.(settings.name, error);
  const request = requestChain({ retry, reservation: parts.reservation ?? rateOf(settings, parts), onDisbelief, onReply });
  const embed = embedder({ settings, http, telemetry: parts.telemetry, retry, request });

  async function requested(
    { question, budget, record }: Asking,
    messages: readonly Message[],
    as: AnswerFormat,
  ): Promise<Exclude<Completion, { kind: 'busy' }>> {
    const schemaName = schemaNameOf(question);
    return await request<Exclude<Completion, { kind: 'busy' }>>({
      record,
      what: { operation: 'chat', question: question.id },
      budget,
      most: mostOf(settings, question, messages, as),
      send: () => complete({ messages, format: as, schema: question.answerSchema, schemaName, refused, signal: stopping.signal }),
    });
  }

  /** Remembers a laxer format that the endpoint accepts. An endpoint that ignores tools gets `json_object`. */
  function learn(accepted: AnswerFormat): void {
    if (answerFormats.indexOf(accepted) > answerFormats.indexOf(format)) format = accepted;
  }

  /** Tries laxer formats after a refusal. */
  async function reply(asking: Asking, messages: readonly Message[]): Promise<Replied> {
    let refusal = 'judge_refused_request';
    for (const as of settings.answerFormat === undefined ? answerFormats.slice(answerFormats.indexOf(format)) : [settings.answerFormat]) {
      let completion = await requested(asking, messages, as);
      while (completion.kind === 'refused' && completion.member !== undefined && !refused.has(completion.member)) {
        refused.add(completion.member);
        completion = await requested(asking, messages, as);
      }
      if (completion.kind === 'refused') {
        refusal = completion.error;
        continue;
      }
      if (completion.kind === 'text') learn(as === 'tool_call' && completion.called !== true ? 'json_object' : as);
      return { completion, tokens: completion.tokens };
    }
    return { completion: { kind: 'failed', error: refusal }, tokens: undefined };
  }

  async function answered(asking: Asking): Promise<Answer> {
    const { question } = asking;
    const opening = openingOf(question, parts.nonce());
    /**
     * The second attempt quotes the first answer as foreign text rather than as a turn: some endpoints want turns to alternate, and a model
     * trusts its own turns.
     */
    let { messages } = opening;
    let tokens: Tokens | undefined;
    /** A usable but faulty answer, used when the correction is not better. */
    let usable: { readonly value: JsonValue } | undefined;
    let error = '';
    for (let attempt = 1; attempt <= answersMax; attempt++) {
      const { completion, tokens: spent } = await reply(asking, messages);
      tokens = sum(tokens, spent);
      if (completion.kind === 'failed') {
        error = completion.error;
        break;
      }
      const read = ownAnswer(question, completion.text);
      if (read.kind === 'answered') usable = { value: read.value };
      const fault = read.kind === 'answered' ? read.fault : read.error;
      if (fault === undefined) break;
      error = `judge_answer_invalid: ${fault}`;
      const correction = correctionText({ fault, answer: completion.text, nonce: parts.nonce() });
      messages = opening.messages.map(({ role, content }) => ({
        role,
        content: role === 'user' ? `${content}\n\n${correction}` : content,
      }));
    }
    const used = tokens === undefined ? {} : { tokens };
    return usable === undefined
      ? { kind: 'failed', error, ...used }
      : { kind: 'answered', value: usable.value, truncated: opening.truncated, ...used };
  }

  return {
    name: settings.name,
    model: settings.model,
    batches: batchClient({ settings, http, nonce: parts.nonce, format: () => format, refused, signal: stopping.signal }),
    async ask(question, note, budget) {
      const record = callRecord(settings, parts.clock, note);
      const answer = stopping.signal.aborted ? overloaded : await resolved(() => answered({ question, budget, record }));
      count(answer.kind);
      return answer.kind === 'answered' ? { ...answer, model: settings.model } : answer;
    },
    async embed(request, note, budget) {
      const answer = stopping.signal.aborted ? overloaded : await resolved(() => embed(request, note, budget));
      count(answer.kind);
      return answer;
    },
    async stop() {
      stopping.abort();
      http.stop();
    },
  };
}

/** The limit per minute, without a ledger. */
function rateOf({ name, requestsPerMinute }: JudgeSettings, parts: JudgeDeps): BudgetReservation | undefined {
  return requestsPerMinute === undefined ? undefined : rateReservation({ name, requestsPerMinute }, parts);
}

async function resolved(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    return { kind: 'failed', error: `judge_fault: ${error instanceof Error ? error.name : 'unknown'}` };
  }
}

function sum(before: Tokens | undefined, now: Tokens | undefined): Tokens | undefined {
  if (before === undefined || now === undefined) return before ?? now;
  return { input: before.input + now.input, output: before.output + now.output };
}
