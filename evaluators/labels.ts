/** A judge's label with its explanation, and with what speaks against the thing that is judged where that is asked for. */
import { isJsonArray, isJsonObject, member } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import { cut } from './judge-data.ts';

/** The labels that a judge may give, each with its score from 0 to 1. */
export interface LabelScores {
  readonly [label: string]: number;
}

export interface LabelForm {
  readonly labels: LabelScores;
  /** Name of a list of texts in the answer that names what is wrong. It is empty under a label of the full score, and only there. */
  readonly faults?: string;
}

export interface Labelled {
  readonly label: string;
  readonly score: number;
  readonly explanation: string;
  readonly faults: readonly string[];
}

/** `fault` says in words what is wrong with the answer; it repeats nothing of it. */
export type Read<Value> = { readonly kind: 'read'; readonly value: Value } | { readonly kind: 'faulty'; readonly fault: string };

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
export function readLabelled(answer: JsonValue, form: LabelForm, who: string): Read<Labelled> {
  const explanation = readExplanation(answer, who);
  if (explanation.kind === 'faulty') return explanation;
  const given = isJsonObject(answer) ? member(answer, 'label') : undefined;
  const label = typeof given === 'string' ? Object.keys(form.labels).find((one) => one.toLowerCase() === given.trim().toLowerCase()) : undefined;
  const score = label === undefined ? undefined : form.labels[label];
  if (label === undefined || score === undefined) return faulty(`the label of ${who} is none of ${Object.keys(form.labels).join(', ')}`);
  const faults = readFaults(answer, form.faults, who);
  if (faults.kind === 'faulty') return faults;
  if (form.faults !== undefined && faults.value.length > 0 !== score < 1) return faulty(`${form.faults} of ${who} must be ${score < 1 ? 'filled' : 'empty'} under the label ${label}`);
  return { kind: 'read', value: { label, score, explanation: explanation.value, faults: faults.value } };
}

export function readExplanation(answer: JsonValue, who: string): Read<string> {
  const explanation = isJsonObject(answer) ? member(answer, 'explanation') : undefined;
  if (typeof explanation !== 'string' || explanation.trim() === '') return faulty(`${who} has no explanation`);
  return { kind: 'read', value: cut(explanation.trim(), explanationCharsMax) };
}

function readFaults(answer: JsonValue, name: string | undefined, who: string): Read<readonly string[]> {
  if (name === undefined) return { kind: 'read', value: [] };
  const given = isJsonObject(answer) ? member(answer, name) : undefined;
  const texts = isJsonArray(given) ? given.filter((one) => typeof one === 'string') : undefined;
  if (texts === undefined || texts.length !== (isJsonArray(given) ? given.length : 0)) return faulty(`${name} of ${who} is no list of texts`);
  if (texts.length > faultsMax) return faulty(`${name} of ${who} has more than ${faultsMax} entries`);
  return { kind: 'read', value: texts.map((one) => cut(one.trim(), faultCharsMax)).filter((one) => one !== '') };
}

export function faulty(fault: string): { readonly kind: 'faulty'; readonly fault: string } {
  return { kind: 'faulty', fault };
}
