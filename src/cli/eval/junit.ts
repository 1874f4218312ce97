/**
 * Writes the report as JUnit XML: one suite for each evaluator, one test case for each run. The time of a case is the duration of the run, or
 * of its verdict for a run without times.
 */
import { element, escaped } from '../../analytics/reports/xml-element.ts';
import { classOf, type NamedVerdict, partText } from '../../library/report.ts';
import { endEvaluator } from '../../model/verdict.ts';
import { gateText, runErrorsOf, unverifiedText, type EvalReport } from './report.ts';
import type { EvalResult } from './scoring.ts';

export function junitXml({ outcome, tallies, gates, nothingScored, unverified = [] }: EvalReport): string {
  const suites = tallies.flatMap((tally) => {
    const cases = outcome.results.flatMap((result) =>
      result.verdicts.filter(({ name }) => name === tally.name).map((one) => testCase(result, one)),
    );
    return cases.length === 0
      ? []
      : [suite({ name: tally.name, failures: tally.failed, errors: tally.errors, skipped: tally.skipped }, cases)];
  });
  const missing = outcome.missing.map((id) =>
    untimed('dataset', id, element('failure', { type: 'no_run', message: 'No run belongs to this example.' }, [])),
  );
  if (missing.length > 0) suites.push(suite({ name: 'dataset', failures: missing.length, errors: 0, skipped: 0 }, missing));
  const failed = runErrorsOf(outcome.results)
    .filter(({ isListed }) => !isListed)
    .map(({ label, text }) =>
      untimed('runs', label, element('failure', { type: endEvaluator, message: `The run ended in an error. ${text}`.trimEnd() }, [])),
    );
  if (failed.length > 0) suites.push(suite({ name: 'runs', failures: failed.length, errors: 0, skipped: 0 }, failed));
  // CI systems count skipped cases as green, so an expectation without a score is an error.
  const open = unverified.map((one) =>
    untimed('expectations', `${one.label} expect.${one.part}`, element('error', { type: 'no_score', message: unverifiedText(one) }, [])),
  );
  if (open.length > 0) suites.push(suite({ name: 'expectations', failures: 0, errors: open.length, skipped: 0 }, open));
  if (nothingScored !== undefined)
    suites.push(
      suite({ name: 'scored', failures: 0, errors: 1, skipped: 0 }, [
        untimed('scored', 'runs scored', element('error', { type: 'nothing_scored', message: nothingScored }, [])),
      ]),
    );
  const gateCases = gates.map(({ name, share, reached, held }) =>
    untimed(
      'gates',
      name,
      ...(held
        ? [element('system-out', {}, [escaped(gateText({ name, share, reached, held }))])]
        : [
            element(
              'failure',
              {
                type: 'gate',
                message: `${reached === undefined ? 'nothing passed or failed' : `${reached} passed`}, at least ${share} wanted`,
              },
              [],
            ),
          ]),
    ),
  );
  if (gateCases.length > 0)
    suites.push(suite({ name: 'gates', failures: gates.filter(({ held }) => !held).length, errors: 0, skipped: 0 }, gateCases));
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="tracejury">', ...suites.map(({ xml }) => xml), '</testsuites>'].join(
    '\n',
  );
}

interface SuiteCounts {
  readonly name: string;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
}

interface TestCase {
  readonly seconds: number;
  readonly xml: string;
}

function suite({ name, failures, errors, skipped }: SuiteCounts, cases: readonly TestCase[]): { readonly xml: string } {
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  return {
    xml: element(
      'testsuite',
      {
        name,
        tests: String(cases.length),
        failures: String(failures),
        errors: String(errors),
        skipped: String(skipped),
        time: timeText(seconds),
      },
      cases.map(({ xml }) => xml),
    ),
  };
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
