/** Runs and verdicts without what the rules match. */
import type { RunDecision } from '../model/scored-run.ts';
import type { Run } from '../model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { Evaluation, Verdict } from '../model/verdict.ts';
import { changedDecision, changedEvaluation, changedRun, changedVerdict, originals } from './run.ts';
import { type RedactionRule, search, type Search } from './search.ts';
import { changedRecord, changedSpan } from './spans.ts';

export interface Redaction {
  /** The run, and a way for what is said about it. */
  run(run: Run): RedactedRun;
  text(text: string): string;
  /** Of one trace. */
  spans(spans: readonly Span[], records: readonly LogRecord[]): { readonly spans: readonly Span[]; readonly records: readonly LogRecord[] };
  /** Of a log line, whose message is ours: a field may quote what was sent, as the errors of parsers do. */
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
  /** Told the name of the rule for each replacement, and `not_searched` for each text that was given up. */
  readonly onRedacted: (rule: string) => void;
  /** Characters of one run, or of one verdict, that are searched by all rules together. */
  readonly charsMax?: number;
}

export function redaction(options: RedactionOptions): Redaction {
  return {
    run(run) {
      const found = originals();
      const said = (): Search => search({ ...options, prepared: found.withoutBeginnings });
      return {
        run: changedRun(run, search({ ...options, onFound: found.add })),
        verdict: (verdict) => changedVerdict(verdict, said()),
        evaluation: (evaluation) => changedEvaluation(evaluation, said()),
        decision: (decision) => changedDecision(decision, said()),
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
