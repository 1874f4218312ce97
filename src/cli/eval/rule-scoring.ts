/** Scores runs by rules while the inputs are read, and lets go of their content. */
import { noParts, type Run } from '../../model/agent-trace.ts';
import { type JsonValue, plainText } from '../../model/json.ts';
import { type CoverageReader, expectationFaults } from './expectations.ts';
import { type EvalItem, type Matcher, ruledOn, type ScoringOptions, withExample } from './scoring.ts';
import { present } from '../../model/present.ts';

interface BeginningOptions extends ScoringOptions {
  readonly matcher: Matcher;
  readonly coverage: CoverageReader;
  /** Keeps the input and the answer of a run for the report. */
  readonly keepsTexts: boolean;
}

/** Scores a run by rules and lets go of its content, where neither a judge nor the choice of its example waits for other runs. */
export function begun(item: EvalItem, { matcher, coverage: reader, keepsTexts, ...options }: BeginningOptions): EvalItem {
  const faults = expectationFaults(item);
  const found = matcher.atOnce(item);
  if (found === undefined || faults.length > 0) return { ...item, faults };
  const own = withExample(item, found.example);
  const coverage = reader.ofItem(own);
  if (coverage.plan.some(({ configured }) => configured.kind !== 'rule')) return { ...item, faults };
  const result = ruledOn({ ...own, plan: coverage.plan }, options).finished([]);
  const shown = { ...result, item: { ...result.item, run: withoutContent(result.item.run, keepsTexts) } };
  return { ...item, faults, run: withoutContent(item.run, false), begun: { example: found.example, coverage, result: shown } };
}

/** A report shows the beginning of longer texts. */
const shownChars = 16_384;

function withoutContent(run: Run, keepsTexts: boolean): Run {
  const { agent, status, errorMessage, errorType, sessionId, input, finalResponse, toolCallsCarried } = run.trace;
  const shown = (text: JsonValue): string => plainText(text).slice(0, shownChars);
  return {
    ...run,
    resourceAttributes: {},
    trace: present({
      agent,
      errorMessage,
      errorType,
      sessionId,
      input: input === undefined || !keepsTexts ? undefined : shown(input),
      finalResponse: finalResponse === undefined || !keepsTexts ? undefined : shown(finalResponse),
      status,
      ...noParts,
      toolCallsCarried,
    }),
  };
}
