/** What a configuration entry says about one exporter, and what the service hands in. */
import type { lookup } from 'node:dns';
import type { Clock, Sleep } from '../model/clock.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ClientTls } from '../model/client-tls.ts';
import type { SpanDetail } from './otlp/evaluation-span.ts';
import type { ScoreApiSettings } from './scores/score-api-backend.ts';

export interface ExporterSettings {
  /** Of the entry, in metrics. */
  readonly name?: string;
  /** Base URL; `/v1/traces` is added. */
  readonly endpoint?: string;
  /** The whole URL for spans; wins over `endpoint`. */
  readonly tracesEndpoint?: string;
  /** The whole URL for log records. */
  readonly logsEndpoint?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly protocol?: OtlpProtocol;
  readonly compression?: 'none' | 'gzip';
  /** False: calls to judges become no spans. */
  readonly judgeCalls?: boolean;
  /** Of evaluation spans. Default: `lean`. */
  readonly detail?: SpanDetail;
  readonly tls?: ClientTls;
  /** Longest time for one request, with everything that belongs to it. */
  readonly timeoutMs?: number;
  /** Of a backend with scores of its own: its key and what else names the account. */
  readonly keys?: ScoreApiSettings['keys'];
  /** Of `webhook`. */
  readonly webhook?: WebhookSettings;
}

export interface ExporterDeps {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Who resolves names; the machine when left out. */
  readonly lookup?: typeof lookup;
}

/** How spans are encoded, and what carries them. */
export const otlpProtocols = ['http/protobuf', 'http/json', 'grpc'] as const;
export type OtlpProtocol = (typeof otlpProtocols)[number];

/** How a message is written. */
export type MessageSettings = {
  readonly body: 'json' | 'slack';
  /** Where a person sees the run; `{trace_id}` and `{span_id}` are replaced. */
  readonly link?: string;
};

/** What an entry says about a webhook. */
export type WebhookSettings = MessageSettings & {
  readonly url: string;
  readonly secret?: string;
  readonly only: WebhookFilter;
  readonly perMinute: number;
  /** True: the address may be a private one. */
  readonly privateAddresses: boolean;
};

/** Sends a verdict when its outcome or label is named. An empty list of evaluators or agents means all. */
export type WebhookFilter = {
  readonly verdicts: readonly VerdictOutcome[];
  readonly labels: readonly string[];
  readonly evaluators: readonly string[];
  readonly agents: readonly string[];
};

export const verdictOutcomes = ['fail', 'pass', 'error'] as const;
type VerdictOutcome = (typeof verdictOutcomes)[number];
