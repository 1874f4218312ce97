/** The values in the arguments of each call stand in the input, the system prompt or an earlier result. What does not may be made up, or derived. */
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  cutShort,
  evidenceOf,
  notCarried,
  noToolCalls,
  namedIn,
  partOf,
  partsOf,
  placedCalls,
  skipped,
} from './evidence/calls.ts';
import { lacksSources, tracedCalls, type Traced } from './evidence/provenance.ts';
import { callName, count, listed, listedMax, quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { texts } from './configuration/option-table.ts';

export const argumentProvenance = rule({
  id: 'argument_provenance',
  version: 2,
  summary: 'The argument values of the tool calls stand in the input or in earlier results.',
  needs: ['tool_calls', 'input'],
  defaultThreshold: null,
  options: {
    ignore_tools: texts('Tools that are left out, such as ones that take a text of the model’s own.', { maxItems: 200 }),
  },
  source: 'the part of Dokimos ToolArgumentHallucinationEvaluator that needs no judge',
  evaluate({ trace }, { ignoreTools }) {
    const stop = notCarried(trace);
    if (stop !== undefined) return stop;
    const calls = placedCalls(trace).filter(({ call }) => !ignoreTools.includes(call.name));
    if (calls.length === 0) return noToolCalls({ ...trace, toolCalls: [] });
    if (trace.input === undefined || trace.input.trim() === '')
      return skipped('no_input', 'The spans carry no input of the user, so nothing tells where arguments come from.');
    const traced = tracedCalls(trace, calls);
    if (traced === undefined)
      return skipped(
        'too_large',
        `The input and the results are too long to be searched for every argument, so that none of ${count(calls.length, 'tool call')} was looked at.`,
        { tool_calls: calls.length },
      );
    if (traced.length === 0) return argumentsUnknown(trace);
    if (traced.some(({ ungrounded }) => ungrounded.length > 0) && lacksSources(trace))
      return cutShort('the input or the results, where arguments come from,');
    const unsearched = traced.filter(({ ungrounded, isUnsearched }) => isUnsearched && ungrounded.length === 0);
    const searched = traced.filter((one) => !unsearched.includes(one));
    if (unsearched.length > 0 && searched.every(({ ungrounded }) => ungrounded.length === 0))
      return skipped(
        'too_large',
        `Values in the arguments of ${count(unsearched.length, 'tool call')} stand within words at more places of the input and the results than are looked at.`,
        { tool_calls: calls.length, ...namedIn('unsearched', unsearched, ({ placed }) => callDetails(placed)) },
      );
    return verdict(searched, { unknown: calls.length - traced.length, unsearched });
  },
});

function verdict(
  traced: readonly Traced[],
  { unknown, unsearched }: { readonly unknown: number; readonly unsearched: readonly Traced[] },
): Outcome {
  const suspects = traced.filter(({ ungrounded }) => ungrounded.length > 0);
  const places = traced.map((one) => ({ ...one.placed, traced: one }));
  const { parts, leftOut } = partsOf(places, isGrounded, (one) =>
    partOf(one, isGrounded(one), isGrounded(one) ? 'Every argument value has a source.' : `${inWords(one.traced)} has no source.`),
  );
  const grounded = traced.length - suspects.length;
  return {
    kind: 'scored',
    score: grounded / traced.length,
    explanation:
      suspects.length === 0
        ? `The argument values of ${traced.length === 1 ? 'the tool call' : `all ${traced.length} tool calls`} stand in the input or in earlier results.`
        : `${suspects.length} of ${count(traced.length, 'tool call')} ${suspects.length === 1 ? 'has' : 'have'} arguments of unknown origin: ${listed(suspects.slice(0, listedMax).map(inWords), '; ', suspects.length)}.${unsearched.length === 0 ? '' : ` ${count(unsearched.length, 'call')} could not be searched to the end.`}`,
    evidence: evidenceOf(suspects.map(({ placed }) => placed)),
    parts,
    details: {
      grounded,
      total: traced.length,
      ...(unknown === 0 ? {} : { arguments_not_carried: unknown }),
      ...namedIn('ungrounded', suspects, suspectDetails),
      ...(unsearched.length === 0 ? {} : namedIn('unsearched', unsearched, ({ placed }) => callDetails(placed))),
      ...leftOut,
    },
  };
}

function isGrounded({ traced }: { readonly traced: Traced }): boolean {
  return traced.ungrounded.length === 0;
}

function inWords({ placed, ungrounded }: Traced): string {
  return `${callName(placed)}: ${listed(ungrounded.map(({ path, value }) => `${path === '' ? '' : `${path} `}${quoted(value)}`))}`;
}

/** Values of one call that the details name. */
const valuesMax = 20;

function suspectDetails({ placed, values, ungrounded }: Traced): JsonObject {
  return { ...callDetails(placed), values, ungrounded: ungrounded.length, paths: ungrounded.slice(0, valuesMax).map(({ path }) => path) };
}
