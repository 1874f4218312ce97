/** The contract of a route of the API, and what routes are given to answer from. */
import type { UnrecognisedNotice } from '../../pipeline/reporting/recognition.ts';
import type { Parameters } from './query.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { Annotation, TakenAnnotation } from '../../model/store/annotation-store.ts';
import type { EntryStatus } from '../../model/exporter-status.ts';
import type { Clock } from '../../model/clock.ts';
import type { KeptSpans, Store } from '../../model/store/store.ts';
import type { JudgeInForce } from '../../analytics/judge-agreement.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';

/** The queues of exporters, as far as they are told of. */
export interface ExporterQueues {
  standings(): readonly EntryStatus[];
  /** The rows of the store have changed. */
  recount(): Promise<void>;
}

export interface ApiDeps {
  readonly store: Store;
  /** Undefined: none are kept of the run's trace. */
  readonly spans: (key: RunKey) => Promise<KeptSpans | undefined>;
  readonly exporters: ExporterQueues;
  /** Keeps what was said of runs, and gives the fate of each. */
  readonly annotate: (annotations: readonly Annotation[]) => Promise<readonly TakenAnnotation[]>;
  /** Takes one back; whether it was there. */
  readonly unannotate: (id: string) => Promise<boolean>;
  /** How the limits of budgets stand, of judges and of evaluators. */
  readonly budgets: () => readonly BudgetRow[];
  /** Evaluators that ask a judge. */
  readonly judges: () => readonly JudgeInForce[];
  readonly clock: Clock;
  /** What is believed of samplers before the service, and how many runs have claimed more weight than that since the start. */
  readonly upstream: { readonly probabilityMin: number; readonly raised: () => number };
  /** Attempts of evaluators since the start of the process, by what came of them. */
  readonly evaluability: () => readonly JsonObject[];
  /** Services and scopes in whose spans no agent is recognised. */
  readonly unrecognised: () => readonly UnrecognisedNotice[];
}
export interface Route {
  /** Other than `get`: it changes something, and asks for a token that may do it. */
  readonly method: 'get' | 'post' | 'delete';
  /** Parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly path_parameters: { readonly [name: string]: JsonObject };
  readonly query_parameters: { readonly [name: string]: JsonObject };
  /** What the token must be allowed where something changes; left out: to operate. */
  readonly may?: 'annotate';
  /** Absent: it takes none. `taken` is checked before the route is asked, which looks at the rest of `schema` by itself. */
  readonly body?: { readonly bytesMax: number; readonly taken: JsonObject; readonly schema: JsonObject };
  /** How an answer is marked that was not what one hopes for, and what that means; left out: 200. */
  readonly statuses?: { readonly of: (answer: JsonObject) => number; readonly meanings: { readonly [status: number]: string } };
  /** What the answer is, as JSON Schema. */
  readonly answer: JsonObject;
  /** Absent: the answer is JSON. Else a text of this type, to be saved as a file that ends so. */
  readonly file?: { readonly type: string; readonly ending: string };
  /** Lists of the answer that tell of all tenants: empty for whoever sees one alone. */
  readonly ofAllTenants?: readonly string[];
  /** Undefined: there is no such thing. */
  readonly handle: (parts: ApiDeps, parameters: Parameters, body: JsonValue) => Promise<JsonValue | undefined>;
}

/** A limit of the day, in its unit: US dollars, requests or tokens. */
export interface BudgetRow {
  /** Undefined: an evaluator's. */
  readonly judge: string | undefined;
  /** Undefined: a judge's. */
  readonly evaluator: string | undefined;
  /** The key of the configuration. */
  readonly limit: string;
  readonly most: number;
  readonly spent: number;
  readonly reserved: number;
  /** Of sample rates, what it leaves, 0..1. */
  readonly share: number;
}
