/** The resolved configuration: camelCase, milliseconds, bytes, with all defaults. */
import type { AlertRule } from '../analytics/alerts/finding.ts';
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
import type { ProcessLearningSettings } from '../pipeline/evaluation/evaluate.ts';
import type { Raise } from '../pipeline/evaluation/sampling.ts';
import type { TaskGroupSettings } from '../pipeline/reporting/task-groups.ts';
import type { Tls } from '../receivers/tls.ts';
import type { RedactionSettings } from '../redaction/settings.ts';
import type { JournalAddress } from '../journals/index.ts';
import type { SessionSettings } from '../pipeline/evaluation/session-turns.ts';
import type { ContentChoice } from '../stores/content-policy.ts';
import type { RetentionLimits } from '../stores/run-writer.ts';
import type { StoreAddress } from '../stores/index.ts';
import type { PeopleSettings } from '../web/people.ts';
import type { Address } from './entries/address.ts';
import type { DatasetRule } from './entries/dataset-rule.ts';
import type { QueueConfig } from './entries/queue-entry.ts';
import type { RunCondition } from './entries/evaluator-entry.ts';
import type { OwnTraces } from './entries/own-traces.ts';
import type { Written } from './sections/index.ts';

export interface Config {
  readonly listen: {
    readonly otlpHttp: Address;
    readonly otlpGrpc: Address;
    readonly console: Address;
    /** Used by all listeners; only those of OTLP request client certificates. */
    readonly tls?: Tls;
    readonly insecure: boolean;
    /** Without it, each listener has its default rule. */
    readonly allowedHosts?: readonly string[];
    readonly allowedOrigins?: readonly string[];
    readonly tokens: readonly Token[];
    /** People sign in to the console with OpenID Connect. */
    readonly oidc?: PeopleSettings;
  };
  readonly limits: Written['limits'];
  readonly closing: Required<Written['closing']> & {
    /** Quiet time before the first close of a trace that one request brought. */
    readonly batchedSettleMs: number;
  };
  /** Texts to redact, in the order of the file. */
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
    /** Time for which an annotation waits for its run. */
    readonly annotationsWaitMs: number;
    /** Time for which an experiment stays after its last result. */
    readonly experimentsMs: number;
    readonly content: ContentChoice;
    /** The index of stored texts; `charsMax`: characters of an input, and of an answer. */
    readonly search: { readonly isOn: boolean; readonly charsMax: number };
    /** Limits of the judge queue. */
    readonly judgeJobs: { readonly ageMs: number; readonly rows: number };
  };
  readonly journal: JournalAddress;
  readonly log: Written['log'];
  /** Spans of the service itself; absent: none. */
  readonly ownTraces?: OwnTraces;
  /** In US dollars, of the models of agents. */
  readonly prices: PriceTable;
  /** The comparison of runs of one task. */
  readonly groups: TaskGroupSettings;
  /** The attribute that holds the version of an agent. */
  readonly versionKey: string;
  readonly alerts: readonly AlertRule[];
  /** Threads that assemble and score; 1: the one that answers requests does. */
  /** Rules that keep runs as examples, in the order of the file. */
  readonly datasets: readonly DatasetRule[];
  /** Annotation queues, in the order of the file. */
  readonly queues: readonly QueueConfig[];
  /** Reports on classes of failed verdicts. */
  readonly issues: Written['issues'];
}

type Token = Omit<Written['listen']['tokens'][number], 'sees'> & {
  /** Omitted for all tenants. */
  readonly sees?: 'own';
};

export interface EvaluatorConfig {
  /** Ready to run, with complete options, expectation and threshold. Its name is unique. */
  readonly configured: ConfiguredEvaluator;
  /** Omitted for every run. */
  readonly when?: RunCondition;
  /** Name of a judge. A judge evaluator has either `judge` or `panel`. */
  readonly judge?: string;
  readonly panel?: Panel;
  /** 1 for rules. */
  readonly sampleRate: number;
  /** Higher rates for runs with findings of rules. */
  readonly raise: readonly Raise[];
  readonly drift?: DriftConfig;
  /** Applies beside the budgets of its judges. */
  readonly budget?: BudgetLimits;
  readonly learning?: ProcessLearningSettings;
}

/** A fixed set of runs to measure the drift of the judge. */
export interface DriftConfig {
  readonly runs: readonly Run[];
  readonly everyMs: number;
  /** Measurements until a new baseline; unlimited when absent. */
  readonly looks?: number;
  /** Another value begins a new baseline. */
  readonly baseline: string;
}

export type JudgeConfig = JudgeSettings;

type Delivered = {
  /** Unique: the key of its rows in the store. */
  readonly name: string;
  /** Bounds until an item becomes a dead letter. */
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
      /** The full URL with the path of the trace signal. */
      readonly tracesEndpoint: string;
      readonly protocol: OtlpProtocol;
      /** Sends judge calls as spans. */
      readonly judgeCalls: boolean;
      readonly detail?: SpanDetail;
    })
  /** Forwards the agents' own spans; late scores wait under its name. Spans never become dead letters. */
  | (ForwardSettings & Delivered & { readonly to: 'forward' })
  | (DeliveredOverHttp & {
      readonly to: 'log_events';
      /** The full URL with the path of the logs signal. */
      readonly logsEndpoint: string;
      readonly protocol: OtlpProtocol;
    })
  | (DeliveredOverHttp & { readonly to: 'webhook'; readonly webhook: WebhookSettings })
  | (DeliveredOverHttp & {
      /** A backend with a score API. */
      readonly to: ScoreApiId;
      /** `missingMs`: age at which an item becomes a dead letter when the backend lacks its span or trace. */
      readonly giveUp: { readonly missingMs: number };
      readonly endpoint: string;
      /** Secret. */
      readonly keys: ScoreApiSettings['keys'];
    });
