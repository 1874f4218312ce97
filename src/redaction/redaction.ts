/** Removes what the rules match from runs and verdicts. */
import type { RunDecision } from '../model/scored-run.ts';
import type { Run } from '../model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { Evaluation, Verdict } from '../model/verdict.ts';
import { changedDecision, changedEvaluation, changedRun, changedVerdict, originals } from './run.ts';
import { type RedactionRule, search, type Search } from './search.ts';
import { changedRecord, changedSpan } from './spans.ts';

export interface Redaction {
  /** Redacts a run. The result redacts the verdicts on it. */
  run(run: Run): RedactedRun;
  text(text: string): string;
  /** Redacts the spans and records of one trace. */
  spans(spans: readonly Span[], records: readonly LogRecord[]): { readonly spans: readonly Span[]; readonly records: readonly LogRecord[] };
  /** Redacts the fields of a log line, as parser errors quote their input. */
  fields(fields: object): object;
}

export interface RedactedRun {
  readonly run: Run;
  verdict(verdict: Verdict): Verdict;
  evaluation(evaluation: Evaluation): Evaluation;
  decision(decision: RunDecision): RunDecision;
}

export interface RedactionOptions {
  readonly rules: readonly RedactionRule[];
  /** Called with the name of the rule for each replacement, and with `not_searched` for each text that was given up. */
  readonly onRedacted: (rule: string) => void;
  /** Limit of UTF-16 units per run, and per verdict, that all rules search together. */
  readonly charsMax?: number;
}

export function redaction(options: RedactionOptions): Redaction {
  return {
    run(run) {
      const found = originals();
      const verdictSearch = (): Search => search({ ...options, prepared: found.withoutBeginnings });
      return {
        run: changedRun(run, search({ ...options, onFound: found.add })),
        verdict: (verdict) => changedVerdict(verdict, verdictSearch()),
        evaluation: (evaluation) => changedEvaluation(evaluation, verdictSearch()),
        decision: (decision) => changedDecision(decision, verdictSearch()),
      };
    },
    text: (text) => search(options).text(text),
    spans(spans, records) {
      const [own, shared] = [search(options), new Map()];
      return {
        spans: spans.map((span) => changedSpan(span, own, shared)),
        records: records.map((record) => changedRecord(record, own, shared)),
      };
    },
    fields: (fields) =>
      Object.fromEntries(Object.entries<JsonValue>(fields as JsonObject).map(([name, value]) => [name, search(options).json(value)])),
  };
}
