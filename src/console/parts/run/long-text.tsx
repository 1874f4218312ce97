/** A text of a span, shortened with a button that shows all. It is only ever text. */
import { useState } from 'preact/hooks';
import { countText } from '../format.ts';

export interface LongTextProps {
  readonly text: string;
  /** Characters that stand without asking. */
  readonly charsMax?: number;
  /** True when a part was cut before it came here. */
  readonly isCut?: boolean;
}

const charsMaxDefault = 1_200;
/** Characters of a text that the page draws at most. */
const allCharsMax = 400_000;

export function LongText({ text, charsMax = charsMaxDefault, isCut = false }: LongTextProps) {
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > charsMax * 1.2;
  const limit = isOpen ? allCharsMax : charsMax;
  const shown = isLong ? text.slice(0, limit) : text;
  return (
    <div class="long-text">
      <div class="text" dir="auto">
        {shown}
        {shown.length < text.length ? '…' : null}
      </div>
      {isLong ? (
        <button type="button" class="plain small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : `Show all ${countText(text.length)} characters`}
        </button>
      ) : null}
      {isOpen && text.length > allCharsMax ? (
        <p class="dim small">The page draws the first {countText(allCharsMax)} characters. The OTLP file of the run has all.</p>
      ) : null}
      {isCut ? <p class="dim small">A part of this text was cut. The OTLP file of the run has all that came.</p> : null}
    </div>
  );
}
