/** The class of evidence for a value that the reader by evidence reports: from the keys that may hold it, in the order in which it asks them. */
import { leastSure, type EvidenceClass, type SpanEvidence } from '../../src/model/evidence.ts';
import { textAttribute, type Span } from '../../src/model/span.ts';
import type { SpanFacts, ToolFacts } from '../collector.ts';
import { isExplicitKey, keyEvidenceOf, type KeyEvidence, type ListField, type ScalarField } from './key-evidence.ts';
import { kindIn } from './kind-words.ts';
import { unquotedText } from './parsing.ts';

type Sources = readonly [keys: readonly ScalarField[], lists?: readonly ListField[], otherwise?: EvidenceClass];

const agentName: Sources = [['agentName', 'ownName', 'graphNamespace', 'graphNode'], [], 'guess'];
const input: Sources = [['input', 'inputMessages', 'arguments'], ['inputMessages']];
const output: Sources = [['output', 'outputMessages'], ['outputMessages']];
const inputMessages: Sources = [['inputMessages', 'input'], ['inputMessages']];
const outputMessages: Sources = [['output', 'outputMessages'], ['outputMessages']];
const tool: { readonly [member in keyof ToolFacts]?: Sources } = {
  name: [['toolName', 'ownName'], [], 'guess'],
  arguments: [['arguments', 'input', 'toolParameters', 'inputMessages']],
  argumentsText: [['arguments', 'input', 'toolParameters', 'inputMessages']],
  result: [['toolResult', 'output', 'outputMessages'], ['resultParts']],
};

/** `facts` holds those of the reader, `before` those of the other collectors. */
export function evidenceOf(span: Span, facts: SpanFacts, before: SpanFacts): SpanEvidence {
  const evidence = keyEvidenceOf(span);
  const { keys } = evidence;
  const saysKind = [keys.kind, keys.nearKind, keys.operation].some((some) =>
    some?.some((key) => kindIn(unquotedText(textAttribute(span, key))) !== undefined),
  );
  const of = (sources: Sources | undefined): EvidenceClass | undefined =>
    sources === undefined ? undefined : classOf(span, evidence, sources, saysKind);
  const isNew = (name: keyof SpanFacts): boolean => facts[name] !== undefined && before[name] === undefined;
  const members = Object.keys(facts.tool ?? {}) as (keyof ToolFacts)[];
  const found: { [name in keyof SpanEvidence]: EvidenceClass | undefined } = {
    agentName: isNew('agentName') ? (facts.agentNameIsGuess === true ? 'guess' : of(agentName)) : undefined,
    input: isNew('input') ? of(input) : undefined,
    output: isNew('output') ? of(output) : undefined,
    tool: leastSure(members.filter((name) => before.tool?.[name] === undefined).map((name) => of(tool[name]))),
    model:
      facts.role === 'model'
        ? leastSure([isNew('inputMessages') ? of(inputMessages) : undefined, isNew('outputMessages') ? of(outputMessages) : undefined])
        : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, by]) => by !== undefined));
}

function classOf(
  span: Span,
  { keys, lists }: KeyEvidence,
  [fields, listFields = [], otherwise = 'shape']: Sources,
  saysKind: boolean,
): EvidenceClass {
  for (const field of fields)
    for (const key of keys[field] ?? []) {
      const value = span.attribute(key);
      if (value === undefined || value === '') continue;
      return isExplicitKey(key) ? (saysKind ? 'kind_and_key' : 'key') : 'ending';
    }
  return listFields.some((field) => lists[field] !== undefined) ? 'shape' : otherwise;
}
