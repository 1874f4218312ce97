/** Unsaved edits of an example: they are still there when the person comes back. */
import { useContext, useMemo } from 'preact/hooks';
import { AppContext } from '../../parts/app-context.ts';
import type { DatasetKey } from './dataset-key.ts';
import type { ExampleForm } from './example-form.ts';
import type { ExampleBody } from './example-members.ts';

export interface UnsavedExample {
  /** Typed by the person for a new example. */
  readonly id: string;
  /** The example when the editor opened. */
  readonly base: ExampleBody;
  readonly since: number;
  readonly form: ExampleForm;
  readonly note: string;
}

export interface UnsavedExamples {
  /** The id of an example that is not stored yet is empty. */
  get(id: string): UnsavedExample | undefined;
  keep(id: string, example: UnsavedExample): void;
  /** Without an id: those of the whole dataset. */
  drop(id?: string): void;
}

export function useUnsavedExamples({ name, tenant }: DatasetKey): UnsavedExamples {
  const { unsaved } = useContext(AppContext);
  return useMemo(() => {
    const scope = JSON.stringify(['dataset', tenant, name]);
    return {
      get: (id) => unsaved.get(scope, id) as UnsavedExample | undefined,
      keep: (id, example) => unsaved.keep(scope, id, example),
      drop: (id) => unsaved.drop(scope, id),
    };
  }, [unsaved, name, tenant]);
}
