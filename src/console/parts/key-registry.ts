/** Keys of the components on screen. The newest binding of a key wins, so a dialog or a table takes it from the page. */

export interface KeyBinding {
  /** The value of `KeyboardEvent.key`: `j`, `Enter`, `?`. */
  readonly key: string;
  /** Begins with a verb: "Opens the run". */
  readonly does: string;
  /** `false`: the key is left to the browser. */
  readonly run: () => void | false;
}

export interface KeyRegistry {
  /** Adds bindings; the returned function removes them. */
  add(bindings: () => readonly KeyBinding[]): () => void;
  /** The bindings that work now, each once. */
  list(): readonly KeyBinding[];
  /** Runs the binding of the key; `false` when there is none. */
  press(key: string): boolean;
}

/** Components with bindings that are on screen at a time. */
const sourcesMax = 200;

export function keyRegistry(): KeyRegistry {
  const sources: (() => readonly KeyBinding[])[] = [];

  function list(): readonly KeyBinding[] {
    const byKey = new Map<string, KeyBinding>();
    for (const source of sources.toReversed()) for (const binding of source()) if (!byKey.has(binding.key)) byKey.set(binding.key, binding);
    return [...byKey.values()];
  }

  return {
    add(bindings) {
      if (sources.length < sourcesMax) sources.push(bindings);
      return () => {
        const at = sources.indexOf(bindings);
        if (at >= 0) sources.splice(at, 1);
      };
    },
    list,
    press(key) {
      const binding = list().find((one) => one.key === key);
      return binding !== undefined && binding.run() !== false;
    },
  };
}

/** The parts of a key event that decide whether it is a command. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly isComposing: boolean;
  /** The element with the focus. */
  readonly on: { readonly tag: string; readonly type: string; readonly isEditable: boolean };
}

const buttons: ReadonlySet<string> = new Set(['BUTTON', 'A', 'SUMMARY', 'SELECT']);
const inputsWithoutText: ReadonlySet<string> = new Set(['checkbox', 'radio', 'button', 'submit', 'range', 'color', 'file']);

/** False for a key that the focused element needs itself: text in a field, Enter and Space on a button. */
export function isCommand({ key, ctrlKey, metaKey, altKey, isComposing, on }: KeyPress): boolean {
  if (ctrlKey || metaKey || altKey || isComposing) return false;
  if (on.isEditable || on.tag === 'TEXTAREA') return false;
  if (on.tag === 'INPUT' && !inputsWithoutText.has(on.type)) return false;
  if (key === 'Enter' || key === ' ') return !buttons.has(on.tag) && on.tag !== 'INPUT';
  return on.tag !== 'SELECT';
}
