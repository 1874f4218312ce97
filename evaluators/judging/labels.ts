/** A judge's label with its explanation, and with what speaks against the thing that is judged where that is asked for. */
import { isJsonArray, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { cut } from './judge-input.ts';
import { faulty, readLabel, type Reading } from './strict-answers.ts';

/** The labels that a judge may give, each with its score from 0 to 1. */
export interface LabelScores {
  readonly [label: string]: number;
}

export interface LabelForm {
  readonly labels: LabelScores;
  /** Name of a list of texts in the answer that names what is wrong. It is empty under a label of the full score, and only there. */
  readonly faults?: string;
}

export interface ScoredLabel {
  readonly label: string;
  readonly score: number;
  readonly explanation: string;
  readonly faults: readonly string[];
}

/** Texts in one list, characters of each, and of an explanation that the details keep. */
const faultsMax = 50;
const faultCharsMax = 300;
const explanationCharsMax = 1_000;

/** Members of the answer, in the order in which they are to be written: the reasons come before the label. */
export function labelProperties({ labels, faults }: LabelForm): JsonObject {
  return {
    explanation: { type: 'string' },
    ...(faults === undefined ? {} : { [faults]: { type: 'array', items: { type: 'string' } } }),
    label: { type: 'string', enum: Object.keys(labels) },
  };
}

/** `who` is whose label it is, for the fault. */
export function readLabelled(answer: JsonValue, form: LabelForm, who: string): Reading<ScoredLabel> {
  const read = readLabel(answer, Object.keys(form.labels), who);
  if (read.kind === 'faulty') return read;
  const { label, explanation, entry } = read.value;
  const score = form.labels[label] ?? 0;
  const faults = readFaults(entry, form.faults, who);
  if (faults.kind === 'faulty') return faults;
  if (form.faults !== undefined && faults.value.length > 0 !== score < 1)
    return faulty(`${form.faults} of ${who} must be ${score < 1 ? 'filled' : 'empty'} under the label ${label}`);
  return { kind: 'read', value: { label, score, explanation: keptExplanation(explanation), faults: faults.value } };
}

/** As the details keep it. */
export function keptExplanation(explanation: string): string {
  return cut(explanation.trim(), explanationCharsMax);
}

function readFaults(entry: JsonObject, name: string | undefined, who: string): Reading<readonly string[]> {
  if (name === undefined) return { kind: 'read', value: [] };
  const texts = member(entry, name);
  if (!isJsonArray(texts) || !texts.every((one) => typeof one === 'string')) return faulty(`${name} of ${who} is no list of texts`);
  if (texts.length > faultsMax) return faulty(`${name} of ${who} has more than ${faultsMax} entries`);
  return { kind: 'read', value: texts.map((one) => cut(one.trim(), faultCharsMax)).filter((one) => one !== '') };
}
