/**
 * Names, numbers, dates and ids in the final response agree with tool results, documents or the reference. A judge decides about each one.
 * An entity that it lists must occur in the response.
 */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import { isJsonObject, member, plainText, type JsonValue } from '../src/model/json.ts';
import { labelListSchema, listIn, upTo, faulty, readLabels, strictly, type Labelled, type Reading } from './judging/verdict-forms.ts';
import { executedCalls, noToolCalls, notCarried, resultsUnknown, skipped, type Skipped } from './evidence/calls.ts';
import { blocksOf, lackingParts, numbered, truncatedDetail, finalText, notAsked } from './judging/judge-input.ts';
import { runView } from './judging/run-view.ts';
import { count, quoted, someOf } from './explain/explanation.ts';
import { judge, expecting } from './configuration/define.ts';

export const entityCorrectness = judge({
  id: 'entity_correctness',
  summary: 'A judge finds the names, numbers and dates of the final response borne out by tool results or a reference.',
  needs: ['final_response', 'tool_results'],
  defaultThreshold: 1,
  expectationSchema: expecting({ output: { description: 'A reference that may contain entities, besides the results of tools.' } }),
  // A reference only adds support for entities: a response without entities passes.
  checks: () => [],
  source: 'entity checks of published agent tutorials, with a verdict on each entity',
  *evaluate({ trace, expected }, _options, context) {
    const stop = lackingParts(trace, context, ['final_response']) ?? lackingEvidence(trace, expected);
    if (stop !== undefined) return stop;
    const response = finalText(trace);
    const documents = trace.documents.flatMap(({ content }) => content ?? []);
    const { data, truncated } = blocksOf({
      'user input': trace.input,
      'steps taken': runView(trace),
      documents: documents.length === 0 ? undefined : numbered(documents),
      reference: expected.output === undefined ? undefined : plainText(expected.output),
      'final response': response,
    });
    const judged = yield* strictly(
      { id: 'judge', instruction, data, answerSchema: labelListSchema('entities', labels, { entity: { type: 'string' } }) },
      (answer) => readEntities(answer, response),
    );
    if (judged.kind === 'failed') return judged.outcome;
    if (judged.value.length === 0)
      return skipped('no_such_target', 'The judge found no name, number or date in the final response.', { judge_called: true });
    const all = judged.value;
    const wrong = all.filter(({ label }) => label === 'incorrect');
    return {
      kind: 'scored',
      score: (all.length - wrong.length) / all.length,
      explanation:
        wrong.length === 0
          ? `${all.length === 1 ? 'The entity' : `All ${all.length} entities`} of the final response ${all.length === 1 ? 'is' : 'are'} correct.`
          : `${someOf(
              wrong,
              count(all.length, 'entity', 'entities'),
              ['is incorrect', 'are incorrect'],
              ({ entity, explanation }) => `${quoted(entity)} (${explanation})`,
            )}.`,
      evidence: [],
      details: {
        judge_called: true,
        correct: all.length - wrong.length,
        total: all.length,
        entities: all.map(({ entity, label, explanation }) => ({ entity, label, explanation })),
        ...truncatedDetail(truncated, judged.truncated),
      },
    };
  },
});

const labels = ['correct', 'incorrect'] as const;
const entitiesMax = 50;
const instruction = `An AI agent has answered the user input. List the entities in its final response: names of persons, places, companies and products, numbers and amounts with their units, dates and times, ids and addresses; each once, word for word as it stands in the final response, numbered from 1, the ${entitiesMax} most important ones at most. Decide for each whether it is correct. correct: the steps taken, the documents, the reference or the user input bear it out, in what the response says about it. incorrect: they say something else, or nothing of the kind. First explain in one sentence, then give the label. If there is no entity, give an empty list.`;

/** Requires a reference, a document, or known results. */
function lackingEvidence(trace: AgentTrace, expected: Expectation): Skipped | undefined {
  if (expected.output !== undefined || trace.documents.some(({ content }) => content !== undefined)) return undefined;
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const isKnown = calls.some(({ call }) => call.result !== undefined || call.error !== undefined);
  return isKnown
    ? undefined
    : resultsUnknown(calls, 'The spans carry no results of tool calls; switch on the capture of tool outputs.', notAsked);
}

interface Entity extends Labelled {
  readonly entity: string;
}

function readEntities(answer: JsonValue, response: string): Reading<readonly Entity[]> {
  const entries = listIn(answer, 'entities');
  if (entries === undefined) return faulty('entities is not a list');
  if (entries.length > entitiesMax) return faulty(`more than ${entitiesMax} entities`);
  const read = readLabels(answer, { list: 'entities', numbers: upTo(entries.length), what: 'entity' }, labels);
  if (read.kind === 'faulty') return read;
  const text = folded(response);
  const all: Entity[] = [];
  for (const [at, one] of read.value.entries()) {
    const entity = isJsonObject(one.entry) ? member(one.entry, 'entity') : undefined;
    if (typeof entity !== 'string' || folded(entity) === '') return faulty(`entity ${at + 1} has no text`);
    if (!text.includes(folded(entity))) return faulty(`entity ${at + 1} is not in the final response word for word`);
    all.push({ ...one, entity });
  }
  return { kind: 'read', value: all };
}

/** Ignores case, white space and enclosing quotation marks. */
function folded(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/^["'“”‘’`]+|["'“”‘’`.,;:]+$/g, '');
}
