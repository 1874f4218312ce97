/** Records a request to an endpoint, with its retries, for the span that reports it. */
import type { Tokens } from '../../model/budget.ts';
import type { JudgeCall, NoteCall } from '../../model/judge-call.ts';
import type { Clock } from '../../model/clock.ts';
import type { Busy, RetryPolicy } from '../../runtime/retry.ts';
import type { JudgeSettings } from '../judge.ts';

/** The facts that the endpoint reports beside the answer. */
export type ResponseNote = NonNullable<JudgeCall['response']>;

/** Members that all replies share. */
export interface Reply {
  readonly kind: string;
  readonly error?: string;
  readonly tokens?: Tokens | undefined;
  readonly response?: ResponseNote;
}

export interface CallRecord {
  /**
   * Records one request. `work` gets the retry policy, and calls `sent` before each sending. A request that is never sent is not recorded.
   */
  record<Result extends Reply>(
    what: Pick<JudgeCall, 'operation' | 'question'>,
    policy: RetryPolicy,
    work: (policy: RetryPolicy, sent: () => void) => Promise<Result>,
  ): Promise<Result>;
}

export function callRecord(
  settings: Pick<JudgeSettings, 'name' | 'baseUrl' | 'model'>,
  clock: Clock,
  note: NoteCall = () => undefined,
): CallRecord {
  const place = endpointOf(settings.baseUrl);
  return {
    async record(what, policy, work) {
      let startMs: number | undefined;
      const retries: { readonly atMs: number; readonly error: string }[] = [];
      const recording: RetryPolicy = {
        ...policy,
        onRetry(busy: Busy) {
          retries.push({ atMs: clock.nowMs(), error: busy.error });
          policy.onRetry(busy);
        },
      };
      const reply = await work(recording, () => void (startMs ??= clock.nowMs()));
      if (startMs !== undefined) {
        const { error, tokens, response } = reply;
        note({
          judge: settings.name,
          ...what,
          ...place,
          model: settings.model,
          startMs,
          endMs: clock.nowMs(),
          retries,
          ...(response === undefined ? {} : { response }),
          ...(tokens === undefined ? {} : { tokens }),
          ...(error === undefined ? {} : { error }),
        });
      }
      return reply;
    },
  };
}

/** Providers by host, with their names in the GenAI conventions. */
const providers: readonly (readonly [host: RegExp, provider: string])[] = [
  [/\.openai\.azure\.com$/, 'azure.ai.openai'],
  [/^api\.anthropic\.com$/, 'anthropic'],
  [/^generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/^api\.mistral\.ai$/, 'mistral_ai'],
  [/^api\.groq\.com$/, 'groq'],
  [/^api\.deepseek\.com$/, 'deepseek'],
  [/^api\.perplexity\.ai$/, 'perplexity'],
  [/^api\.x\.ai$/, 'x_ai'],
];

/** The conventions name the protocol when the provider is unknown: `openai`. */
export function endpointOf(baseUrl: string): Pick<JudgeCall, 'provider' | 'server'> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const provider = providers.find(([host]) => host.test(hostname))?.[1] ?? 'openai';
  return { provider, server: { address: hostname, port: Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port) } };
}
