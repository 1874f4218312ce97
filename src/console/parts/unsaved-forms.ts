/** Forms with unsaved changes. They outlive the page of the form, so that a link does not throw typed text away. */

const formsMax = 50;

export interface UnsavedForms {
  readonly size: number;
  /** `undefined`: the form has no changes. */
  get(scope: string, key: string): unknown;
  /** Beyond 50 forms the oldest one is dropped. */
  keep(scope: string, key: string, form: unknown): void;
  /** Without a key: all forms of the scope. */
  drop(scope: string, key?: string): void;
}

export function unsavedForms(): UnsavedForms {
  const forms = new Map<string, { readonly scope: string; readonly form: unknown }>();
  const keyOf = (scope: string, key: string): string => JSON.stringify([scope, key]);
  return {
    get size() {
      return forms.size;
    },
    get: (scope, key) => forms.get(keyOf(scope, key))?.form,
    keep(scope, key, form) {
      const own = keyOf(scope, key);
      forms.delete(own);
      forms.set(own, { scope, form });
      for (const oldest of forms.keys()) {
        if (forms.size <= formsMax) break;
        forms.delete(oldest);
      }
    },
    drop(scope, key) {
      if (key !== undefined) forms.delete(keyOf(scope, key));
      else for (const [own, { scope: of }] of forms) if (of === scope) forms.delete(own);
    },
  };
}
