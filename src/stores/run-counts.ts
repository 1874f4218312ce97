/** Counts of one run for sums over many, beside its verdicts: calls by tool and by model, and arguments that schemas refuse. */
import type { Run } from '../model/agent-trace.ts';
import { callEnd } from '../model/error-signs.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../model/json.ts';
import type { ModelCounts } from '../model/scored-run.ts';
import { addValue, type EncodedSketch, encodedSketch, sketchSum, type SketchSum } from '../statistics/sketch-sum.ts';
import { tookMicros } from './row-mapping.ts';

/**
 * One tool of a run: its name, calls, errors, calls that nothing shows to have run, calls of known time, their microseconds, and the sketch
 * of these. One time needs no sketch.
 */
export type ToolCounts = readonly [
  name: string,
  calls: number,
  errors: number,
  notExecuted: number,
  timed: number,
  took: number,
  sketch?: EncodedSketch,
];

/** Counts of one model of a run. Null when unknown. */
export type ModelColumns = readonly [
  model: string,
  calls: number,
  errors: number,
  inputTokens: number | null,
  outputTokens: number | null,
  costUsd: number | null,
  sketch: EncodedSketch,
];

interface ToolGroup {
  calls: number;
  errors: number;
  notExecuted: number;
  timed: number;
  took: number;
  readonly sketch: SketchSum;
}

export function toolsText({ trace: { toolCalls } }: Run): string | null {
  if (toolCalls.length === 0) return null;
  const tools = new Map<string, ToolGroup>();
  for (const call of toolCalls) {
    const tool = tools.get(call.name) ?? { calls: 0, errors: 0, notExecuted: 0, timed: 0, took: 0, sketch: sketchSum() };
    const [ended, took] = [callEnd(call), tookMicros(call)];
    tool.calls++;
    if (ended === 'failed') tool.errors++;
    if (!call.executed && ended !== 'failed') tool.notExecuted++;
    if (took !== undefined) {
      tool.timed++;
      tool.took += took;
      addValue(tool.sketch, took);
    }
    tools.set(call.name, tool);
  }
  const counts = [...tools].map(([name, { calls, errors, notExecuted, timed, took, sketch }]): ToolCounts => {
    const plain = [name, calls, errors, notExecuted, timed, took] as const;
    return timed > 1 ? [...plain, encodedSketch(sketch)] : plain;
  });
  return JSON.stringify(counts);
}

/** Null when the spans carry no model call. */
export function modelsText(models: readonly ModelCounts[] | undefined): string | null {
  if (models === undefined || models.length === 0) return null;
  const rows = models.map(({ model, calls, errors, inputTokens, outputTokens, costUsd, took }): ModelColumns => {
    const sketch = sketchSum();
    for (const micros of took) addValue(sketch, micros);
    return [model, calls, errors, inputTokens ?? null, outputTokens ?? null, costUsd ?? null, encodedSketch(sketch)];
  });
  return JSON.stringify(rows);
}

/** Arguments of one tool that its schema refuses: the path, the keyword of the schema, and the number of calls. */
export type ArgumentFailure = readonly [tool: string, path: string, keyword: string, calls: number];

/** The evaluator whose details name them. */
const schemaEvaluator = 'tool_call_validity';
/** Paths of one run. */
const failuresMax = 50;
const pathCharsMax = 200;

/** A verdict with the name of its entry. */
interface CheckedEntry {
  readonly name: string;
  readonly verdict?: { readonly evaluator: string; readonly details: JsonObject };
}

/** By kind of a problem; a `constraint` has the keyword itself. */
const keywordOf: { readonly [kind: string]: string } = {
  arguments_not_object: 'type',
  missing_required: 'required',
  unexpected_parameter: 'additionalProperties',
  wrong_type: 'type',
  not_in_enum: 'enum',
};

/** Null when there are none. If the evaluator has several entries, the one under its own name counts, else the first. */
export function failuresText(entries: readonly CheckedEntry[]): string | null {
  const checks = entries.filter(({ verdict }) => verdict?.evaluator === schemaEvaluator);
  const invalid = (checks.find(({ name }) => name === schemaEvaluator) ?? checks[0])?.verdict?.details['invalid'];
  if (!isJsonArray(invalid ?? null)) return null;
  const failures = new Map<string, [tool: string, path: string, keyword: string, calls: number]>();
  for (const call of invalid as readonly JsonValue[]) {
    if (!isJsonObject(call)) continue;
    for (const [path, keyword] of pathsOf(call['problems'] ?? null)) {
      const tool = String(call['tool']);
      const key = JSON.stringify([tool, path, keyword]);
      const known = failures.get(key);
      if (known !== undefined) known[3]++;
      else if (failures.size < failuresMax) failures.set(key, [tool, path, keyword, 1]);
    }
  }
  return failures.size === 0 ? null : JSON.stringify([...failures.values()]);
}

/** Each once a call. */
function pathsOf(problems: JsonValue): Iterable<readonly [path: string, keyword: string]> {
  const found = new Map<string, readonly [string, string]>();
  for (const problem of isJsonArray(problems) ? problems : []) {
    if (!isJsonObject(problem)) continue;
    const keyword = keywordOf[String(problem['kind'])] ?? problem['keyword'];
    if (typeof keyword !== 'string') continue;
    // Places in a list are one path.
    const path = String(problem['parameter'] ?? '')
      .slice(0, pathCharsMax)
      .replaceAll(/(?<=^|\.)\d+(?=\.|$)/g, '[]');
    found.set(`${path} ${keyword}`, [path, keyword]);
  }
  return found.values();
}
