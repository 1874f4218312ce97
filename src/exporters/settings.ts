/** The configuration of one exporter, and what the service passes in. */
import type { lookup } from 'node:dns';
import type { ClientTls } from '../model/client-tls.ts';
import type { SpanDetail } from './otlp/evaluation-span.ts';
import type { ScoreApiSettings } from './scores/score-api-backend.ts';
import type { Context } from '../telemetry/context.ts';

export interface ExporterSettings {
  /** Name of the entry, in metrics. */
  readonly name?: string;
  /** Base URL; the exporter appends `/v1/traces`. */
  readonly endpoint?: string;
  /** The whole URL for spans; wins over `endpoint`. */
  readonly tracesEndpoint?: string;
  /** The whole URL for log records. */
  readonly logsEndpoint?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly protocol?: OtlpProtocol;
  readonly compression?: 'none' | 'gzip';
  /** False when judge calls are not sent as spans. */
  readonly judgeCalls?: boolean;
  /** Content of evaluation spans. Default: `lean`. */
  readonly detail?: SpanDetail;
  readonly tls?: ClientTls;
  /** Timeout of one request, from the name look-up to the end of the answer. */
  readonly timeoutMs?: number;
  /** Keys of a score API backend. */
  readonly keys?: ScoreApiSettings['keys'];
  /** Settings of the exporter `webhook`. */
  readonly webhook?: WebhookSettings;
}

export interface ExporterDeps extends Context {
  /** Resolves host names. Default: the resolver of the machine. */
  readonly lookup?: typeof lookup;
}

/** Encoding and transport of OTLP. */
export const otlpProtocols = ['http/protobuf', 'http/json', 'grpc'] as const;
export type OtlpProtocol = (typeof otlpProtocols)[number];

/** Format of a webhook message. */
export type MessageSettings = {
  readonly body: 'json' | 'slack';
  /** Page of the run; the exporter replaces `{trace_id}` and `{span_id}`. */
  readonly link?: string;
  /** Address of the console, for links to alerts, and to runs without `link`. */
  readonly console?: string;
};

/** The part of a configuration entry that concerns a webhook. */
export type WebhookSettings = MessageSettings & {
  readonly url: string;
  readonly secret?: string;
  readonly only: WebhookFilter;
  readonly perMinute: number;
  /** True when the address may be private. */
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
