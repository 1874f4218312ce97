/** Texts to the clipboard. */
import { useToast } from './toast.tsx';

/** Writes a text to the clipboard, and shows a message. `what` begins the sentence: "The link". */
export function useCopy(): (text: string, what: string) => void {
  const toast = useToast();
  return (text, what) =>
    void navigator.clipboard.writeText(text).then(
      () => toast(`${what} is in the clipboard.`),
      () => toast('The browser does not let the page write to the clipboard.', 'failed'),
    );
}

export interface CopyButtonProps {
  /** The value to copy: a text unchanged, any other value as JSON. */
  readonly value: unknown;
  /** Begins a sentence: "The result". */
  readonly what: string;
}

export function CopyButton({ value, what }: CopyButtonProps) {
  const copy = useCopy();
  return (
    <button
      type="button"
      class="plain small copy"
      onClick={() => copy(typeof value === 'string' ? value : JSON.stringify(value, undefined, 2), what)}
    >
      Copy<span class="visually-hidden"> {what.toLowerCase()}</span>
    </button>
  );
}
