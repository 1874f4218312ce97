/**
 * Writes the report as JUnit XML: one suite for each evaluator, one test case for each run. The time of a case is the duration of the run, or
 * of its verdict for a run without times.
 */
import { element, escaped, junitReport, testSuite } from '../../report/junit.ts';
import { classOf, type NamedVerdict, partText } from '../../library/report.ts';
import { endEvaluator } from '../../model/verdict.ts';
import { gateText, runErrorsOf, unverifiedText, type EvalReport } from './report.ts';
import type { EvalResult } from './scoring.ts';

export function junitXml({ outcome, tallies, gates, nothingScored, unverified = [] }: EvalReport): string {
  const failed = runErrorsOf(outcome.results).filter(({ isListed }) => !isListed);
  return junitReport([
    ...tallies.flatMap(({ name, failed: failures, errors, skipped }) => {
      const cases = outcome.results.flatMap((result) =>
        result.verdicts.filter((one) => one.name === name).map((one) => testCase(result, one)),
      );
      return suite({ name, failures, errors, skipped }, cases);
    }),
    ...failures(
      'dataset',
      outcome.missing.map((id) => ({ name: id, type: 'no_run', message: 'No run belongs to this example.' })),
    ),
    ...failures(
      'runs',
      failed.map(({ label, text }) => ({ name: label, type: endEvaluator, message: `The run ended in an error. ${text}`.trimEnd() })),
    ),
    // CI systems count skipped cases as green, so an expectation without a score is an error.
    ...errors(
      'expectations',
      unverified.map((one) => ({ name: `${one.label} expect.${one.part}`, type: 'no_score', message: unverifiedText(one) })),
    ),
    ...errors('scored', nothingScored === undefined ? [] : [{ name: 'runs scored', type: 'nothing_scored', message: nothingScored }]),
    ...suite({ name: 'gates', failures: gates.filter(({ held }) => !held).length, errors: 0, skipped: 0 }, gates.map(gateCase)),
  ]);
}

interface Fault {
  readonly name: string;
  readonly type: string;
  readonly message: string;
}

function failures(name: string, faults: readonly Fault[]): readonly string[] {
  return suite({ name, failures: faults.length, errors: 0, skipped: 0 }, faults.map(faultCase('failure', name)));
}

function errors(name: string, faults: readonly Fault[]): readonly string[] {
  return suite({ name, failures: 0, errors: faults.length, skipped: 0 }, faults.map(faultCase('error', name)));
}

function faultCase(kind: 'failure' | 'error', suiteName: string): (fault: Fault) => TestCase {
  return ({ name, ...attributes }) => untimed(suiteName, name, element(kind, attributes, []));
}

function gateCase(gate: EvalReport['gates'][number]): TestCase {
  const { name, share, reached, held } = gate;
  if (held) return untimed('gates', name, element('system-out', {}, [escaped(gateText(gate))]));
  const found = reached === undefined ? 'nothing passed or failed' : `${reached} passed`;
  return untimed('gates', name, element('failure', { type: 'gate', message: `${found}, at least ${share} wanted` }, []));
}

interface TestCase {
  readonly seconds: number;
  readonly xml: string;
}

/** A suite without cases is left out. */
function suite(counts: Omit<Parameters<typeof testSuite>[0], 'time'>, cases: readonly TestCase[]): readonly string[] {
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  return cases.length === 0
    ? []
    : [
        testSuite(
          { ...counts, time: timeText(seconds) },
          cases.map(({ xml }) => xml),
        ),
      ];
}

function testCase(result: EvalResult, { verdict, name }: NamedVerdict): TestCase {
  const { label, run } = result.item;
  const seconds = secondsOf(result, name);
  const attributes = { classname: run.trace.agent ?? name, name: label, time: timeText(seconds) };
  return { seconds, xml: element('testcase', attributes, contentOf(name, verdict)) };
}

function contentOf(name: string, verdict: NamedVerdict['verdict']): readonly string[] {
  switch (classOf(verdict)) {
    case 'failed':
      return [
        element(
          'failure',
          { type: name, message: verdict.explanation },
          verdict.kind === 'scored' ? verdict.parts.filter(({ passed }) => !passed).map((part) => escaped(partText(part))) : [],
        ),
      ];
    case 'errors':
      return [element('error', { type: verdict.kind === 'failed' ? verdict.error : name, message: verdict.explanation }, [])];
    case 'skipped':
      return [
        element('skipped', { message: verdict.kind === 'skipped' ? `${verdict.reason}: ${verdict.explanation}` : verdict.explanation }, []),
      ];
    default:
      return [];
  }
}

/** A case that is not a verdict on a run. */
function untimed(classname: string, name: string, ...content: readonly string[]): TestCase {
  return { seconds: 0, xml: element('testcase', { classname, name, time: timeText(0) }, content) };
}

const nanosPerSecond = 1e9;
/** A longer duration comes from clocks of several hosts. */
const secondsMax = 7 * 24 * 3_600;

function secondsOf({ item: { run }, tookMs }: EvalResult, name: string): number {
  const ofRun = run.startUnixNano > 0n ? Number(run.endUnixNano - run.startUnixNano) / nanosPerSecond : 0;
  return ofRun > 0 && ofRun <= secondsMax ? ofRun : Math.max(0, (tookMs?.get(name) ?? 0) / 1_000);
}

/** CI systems read plain decimals without an exponent. */
function timeText(seconds: number): string {
  return seconds.toFixed(6);
}
