/** The report as JUnit XML: one suite an evaluator, one test case a run. */
import { partText } from '../../library/part-text.ts';
import { classOf } from '../../library/tally.ts';
import type { EvalReport } from './report.ts';
import type { EvalResult } from './item.ts';
import type { NamedVerdict } from '../../library/report.ts';

export function junitXml({ outcome, tallies, gates }: EvalReport): string {
  const suites = tallies.map((tally) => {
    const cases = outcome.results.flatMap(({ item, verdicts }) => verdicts.filter(({ name }) => name === tally.name).map((one) => testCase(item, one)));
    return suite({ name: tally.name, tests: cases.length, failures: tally.failed, errors: tally.errors, skipped: tally.skipped }, cases);
  });
  const missing = outcome.missing.map((id) => element('testcase', { classname: 'dataset', name: id, time: '0' }, [element('failure', { type: 'no_run', message: 'No run belongs to this example.' }, [])]));
  if (missing.length > 0) suites.push(suite({ name: 'dataset', tests: missing.length, failures: missing.length, errors: 0, skipped: 0 }, missing));
  const gateCases = gates.map(({ name, share, reached, held }) => element('testcase', { classname: 'gates', name, time: '0' }, held ? [] : [element('failure', { type: 'gate', message: `${reached === undefined ? 'nothing passed or failed' : `${reached} passed`}, at least ${share} wanted` }, [])]));
  if (gateCases.length > 0) suites.push(suite({ name: 'gates', tests: gateCases.length, failures: gates.filter(({ held }) => !held).length, errors: 0, skipped: 0 }, gateCases));
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="tracejury">', ...suites, '</testsuites>'].join('\n');
}

interface SuiteCounts {
  readonly name: string;
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
}

function suite({ name, tests, failures, errors, skipped }: SuiteCounts, cases: readonly string[]): string {
  return element('testsuite', { name, tests: String(tests), failures: String(failures), errors: String(errors), skipped: String(skipped), time: '0' }, cases);
}

function testCase({ label, run }: EvalResult['item'], { verdict, name }: NamedVerdict): string {
  const attributes = { classname: run.trace.agent ?? name, name: label, time: '0' };
  switch (classOf(verdict)) {
    case 'failed':
      return element('testcase', attributes, [element('failure', { type: name, message: verdict.explanation }, verdict.kind === 'scored' ? verdict.parts.filter(({ passed }) => !passed).map((part) => escaped(partText(part))) : [])]);
    case 'errors':
      return element('testcase', attributes, [element('error', { type: verdict.kind === 'failed' ? verdict.error : name, message: verdict.explanation }, [])]);
    case 'skipped':
      return element('testcase', attributes, [element('skipped', { message: verdict.kind === 'skipped' ? `${verdict.reason}: ${verdict.explanation}` : verdict.explanation }, [])]);
    default:
      return element('testcase', attributes, []);
  }
}

function element(name: string, attributes: { readonly [name: string]: string }, content: readonly string[]): string {
  const head = `${name}${Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')}`;
  return content.length === 0 ? `<${head}/>` : `<${head}>\n${content.join('\n')}\n</${name}>`;
}

/** What XML 1.0 has no way to write is replaced; line ends in attributes are kept by reference. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[\n\r\t]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
