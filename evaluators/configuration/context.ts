/** The bounded caches that evaluators share: compiled schemas and patterns. The host of the evaluators creates them. */
import { jsonText, type JsonValue } from '../../src/model/json.ts';
import * as packages from '../../src/runtime/packages.cjs';
import type { CompiledSchema, EvaluationContext, Pattern } from '../evaluator.ts';
import { searchedTextMax, isSurelyLonger } from '../schema/pattern-size.ts';
import { compileSchema, schemaTextMax } from '../schema/check.ts';

export { searchedTextMax };

export interface EvaluationContextOptions {
  /** Limit of compiled tool schemas, some ten kilobytes each. */
  readonly schemasMax?: number;
  readonly patternsMax?: number;
  /**
   * Evaluators that give all calls to a judge skip a run with more. Those that compare calls with expectations skip a run with more pairs
   * than its square.
   */
  readonly toolCallsMax?: number;
  /** The host's knowledge of normal processes. */
  readonly processOf?: EvaluationContext['processOf'];
}

/** Longer patterns are refused. */
export const patternSourceMax = 1_000;

export function evaluationContext({
  schemasMax = 500,
  patternsMax = 500,
  toolCallsMax = 1_000,
  processOf,
}: EvaluationContextOptions = {}): EvaluationContext {
  const patterns = boundedCache<Pattern>(patternsMax, compilePattern);
  const schemas = boundedCache<{ readonly compiled: CompiledSchema | undefined }, JsonValue>(schemasMax, (_text, schema) => ({
    compiled: compileSchema(schema, (source) => patterns.of(source, source)),
  }));
  return {
    pattern: (source) => patterns.of(source, source),
    schema: (schema) => {
      if (isSurelyLonger(schema, schemaTextMax)) return undefined;
      const text = jsonText(schema);
      return text.length > schemaTextMax ? undefined : schemas.of(text, schema).compiled;
    },
    once: madeOnce(),
    toolCallsMax,
    ...(processOf === undefined ? {} : { processOf }),
  };
}

/** Compiles a pattern for a linear-time engine. Throws when it is invalid or not supported by such an engine. */
export function compilePattern(source: string): Pattern {
  if (source.length > patternSourceMax) throw new Error(`the pattern is longer than ${patternSourceMax} characters`);
  const compiled = packages.re2js().RE2JS.compile(source);
  return { source, test: (text) => compiled.test(text.length > searchedTextMax ? text.slice(0, searchedTextMax) : text) };
}

/** Unbounded, as entries are collected with their key or with the options. */
function madeOnce(): EvaluationContext['once'] {
  const made = new WeakMap<object, WeakMap<object, object>>();
  return <Made extends object>(shared: object, by: object, make: () => Made): Made => {
    const known = made.get(by) ?? new WeakMap<object, object>();
    made.set(by, known);
    const found = known.get(shared) as Made | undefined;
    if (found !== undefined) return found;
    const fresh = make();
    known.set(shared, fresh);
    return fresh;
  };
}

/** The least recently used entry goes first. */
function boundedCache<Value, From = string>(
  sizeMax: number,
  make: (key: string, from: From) => Value,
): { readonly of: (key: string, from: From) => Value } {
  const kept = new Map<string, Value>();
  return {
    of(key, from) {
      const known = kept.get(key);
      if (known !== undefined) {
        kept.delete(key);
        kept.set(key, known);
        return known;
      }
      const made = make(key, from);
      kept.set(key, made);
      for (const oldest of kept.keys()) {
        if (kept.size <= sizeMax) break;
        kept.delete(oldest);
      }
      return made;
    },
  };
}
