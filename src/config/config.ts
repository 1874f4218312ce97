/** The configuration as the service reads it: camelCase, milliseconds, bytes, every default filled in. */
import type { DialectSettings } from '../../collectors/configured/dialect.ts';
import type { ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import type { PriceTable } from '../../evaluators/pricing/prices.ts';
import type { ClientTls } from '../model/client-tls.ts';
import type { MetricsPushSettings } from '../exporters/metrics/metrics-push.ts';
import type { ForwardSettings } from '../exporters/forward/forwarder.ts';
import type { ScoreApiId } from '../exporters/index.ts';
import type { SpanDetail } from '../exporters/otlp/evaluation-span.ts';
import type { OtlpProtocol, WebhookSettings } from '../exporters/settings.ts';
import type { ScoreApiSettings } from '../exporters/scores/score-api-backend.ts';
import type { JudgeSettings } from '../judges/judge.ts';
import type { Run, ToolDefinition } from '../model/agent-trace.ts';
import type { BudgetLimits } from '../model/budget.ts';
import type { Panel } from '../pipeline/jury/jury-panel.ts';
import type { Raise } from '../pipeline/evaluation/sampling.ts';
import type { TaskGroupSettings } from '../pipeline/reporting/task-groups.ts';
import type { Tls } from '../receivers/tls.ts';
import type { RedactionSettings } from '../redaction/settings.ts';
import type { JournalAddress } from '../journals/index.ts';
import type { SessionSettings } from '../pipeline/evaluation/session-turns.ts';
import type { ContentChoice } from '../stores/content-policy.ts';
import type { RetentionLimits } from '../stores/run-writer.ts';
import type { StoreAddress } from '../stores/index.ts';
import type { Address } from './entries/address.ts';
import type { RunCondition } from './entries/evaluator-entry.ts';
import type { OwnTraces } from './entries/own-traces.ts';
import type { logFormats, logLevels } from './sections/operation.ts';

export interface Config {
  readonly listen: {
    readonly otlpHttp: Address;
    readonly otlpGrpc: Address;
    readonly console: Address;
    /** For all listeners; client certificates are asked for by those of OTLP alone. */
    readonly tls?: Tls;
    readonly insecure: boolean;
    /** The default rule of listeners when absent. */
    readonly allowedHosts?: readonly string[];
    readonly allowedOrigins?: readonly string[];
    readonly tokens: readonly Token[];
  };
  readonly limits: {
    readonly bodyBytes: number;
    readonly inflatedBytes: number;
    readonly memoryBytes: number;
    readonly journalBytes: number;
    /** How late closing may be. */
    readonly closingLagMs: number;
    /** The longest that a client is asked to stay away. */
    readonly retryAfterMs: number;
    /** The least that is believed of a sampler before the service. */
    readonly upstreamProbability: number;
    readonly spansPerTrace: number;
    /** Agents with labels of their own in each tenant; the preset when absent. */
    readonly metricAgents?: number;
    /** Of all listeners together; absent: as many as descriptors allow. */
    readonly connections?: number;
  };
  readonly closing: {
    readonly settleMs: number;
    readonly quietMs: number;
    readonly abandonMs: number;
    readonly lateMs: number;
  };
  /** Texts that only rules may read, in the order of the file. */
  readonly redact: readonly RedactionSettings[];
  /** Definitions for runs whose spans carry none. */
  readonly tools: readonly ToolDefinition[];
  /** In the order of the file. */
  readonly evaluators: readonly EvaluatorConfig[];
  /** Readers of attributes without code, in the order of the file. */
  readonly dialects: readonly DialectSettings[];
  readonly sessions: SessionSettings;
  readonly judges: readonly JudgeConfig[];
  readonly exporters: readonly ExporterConfig[];
  readonly store: {
    readonly address: StoreAddress;
    readonly keep: Omit<RetentionLimits, 'jobsMs' | 'turnsMs'>;
    /** How long an annotation waits for its run. */
    readonly annotationsWaitMs: number;
    readonly content: ContentChoice;
    /** Of what waits for judges. */
    readonly judgeJobs: { readonly ageMs: number; readonly rows: number };
  };
  readonly journal: JournalAddress;
  readonly log: {
    /** `auto`: for people on a terminal, JSON lines elsewhere. */
    readonly format: (typeof logFormats)[number];
    readonly level: (typeof logLevels)[number];
  };
  /** Spans of the service itself; absent: none. */
  readonly ownTraces?: OwnTraces;
  /** In US dollars, of the models that the agents use. */
  readonly prices: PriceTable;
  /** Which runs are compared with one another. */
  readonly groups: TaskGroupSettings;
}

type Permission = 'ingest' | 'read' | 'annotate' | 'operate';

interface Token {
  readonly name: string;
  /** Secret. */
  readonly value: string;
  readonly may: readonly Permission[];
  /** Its own tenant alone; absent: all of them. */
  readonly sees?: 'own';
}

export interface EvaluatorConfig {
  /** Ready to run: options complete, expectation read, threshold settled. Its name is unique. */
  readonly configured: ConfiguredEvaluator;
  /** Absent: every run. */
  readonly when?: RunCondition;
  /** Name of a judge; judge evaluators have one of the two, and only these. */
  readonly judge?: string;
  /** Several votes. */
  readonly panel?: Panel;
  /** 1 for rules. */
  readonly sampleRate: number;
  /** Higher rates for runs on which rules have found something. */
  readonly raise: readonly Raise[];
  /** Absent: its judge is not watched. */
  readonly drift?: DriftConfig;
  /** Its own, beside those of its judges. */
  readonly budget?: BudgetLimits;
}

/** A fixed set of runs that the judge is asked about again and again. */
export interface DriftConfig {
  readonly runs: readonly Run[];
  readonly everyMs: number;
  /** Looks until a new baseline begins; without end when absent. */
  readonly looks?: number;
  /** Another word begins a new baseline. */
  readonly baseline: string;
}

/** As judges take it. */
export type JudgeConfig = JudgeSettings;

type Delivered = {
  /** Unique: what waits for it in the store stands under this name. */
  readonly name: string;
  /** When an item becomes a dead letter. */
  readonly giveUp: { readonly attempts: number; readonly ageMs: number };
};

type DeliveredOverHttp = Delivered & {
  /** Values are secret. */
  readonly headers: { readonly [name: string]: string };
  readonly tls?: ClientTls;
};

export type ExporterConfig =
  | { readonly to: 'metrics'; readonly name: string; readonly push?: MetricsPushSettings }
  | (DeliveredOverHttp & {
      readonly to: 'span_events';
      /** The whole URL, with the path of the trace signal. */
      readonly tracesEndpoint: string;
      readonly protocol: OtlpProtocol;
      /** Calls to judges as spans. */
      readonly judgeCalls: boolean;
      readonly detail?: SpanDetail;
    })
  /** Agents' own spans go on; scores that come too late for them wait under its name. Spans never become a dead letter. */
  | (ForwardSettings & Delivered & { readonly to: 'forward' })
  | (DeliveredOverHttp & {
      readonly to: 'log_events';
      /** The whole URL, with the path of the logs signal. */
      readonly logsEndpoint: string;
      readonly protocol: OtlpProtocol;
    })
  | (DeliveredOverHttp & { readonly to: 'webhook'; readonly webhook: WebhookSettings })
  | (DeliveredOverHttp & {
      /** A backend with scores of its own. */
      readonly to: ScoreApiId;
      /** `missingMs`: age at which an item becomes a dead letter whose span or trace the backend does not have. */
      readonly giveUp: { readonly missingMs: number };
      readonly endpoint: string;
      /** Secret. */
      readonly keys: ScoreApiSettings['keys'];
    });
