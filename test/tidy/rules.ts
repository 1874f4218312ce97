/** The rules of the house, by name. `tidy.test.ts` applies them; `planted.test.ts` proves that each finds its fault. */
import { documentsNameWhatExists, scriptsExist } from './documents.ts';
import { importsFormNoCircle, importsGoDown } from './floors.ts';
import {
  dialectsAreNamedAtHome,
  membersAreDocumented,
  membersAreInTheirTable,
  membersAreNamedAsTheirFile,
  membersAreTested,
} from './members.ts';
import { importingDoesNothing, lowFloorsArePure, noModuleState } from './purity.ts';
import { proseIsNative } from './prose.ts';
import { exportsAreNamed, filesAreShort, functionsAreShort, indexIsATable, namesSayWhatIsInside, typesAreHonest } from './shape.ts';
import type { Rule } from './source.ts';
import { testsStandWhereTheirUnitStands } from './mirror.ts';
import { namesAreOfTheField } from './vocabulary.ts';
import { noBannedWords } from './words.ts';

export const rules = {
  'imports go down the floors': importsGoDown,
  'imports form no circle': importsFormNoCircle,
  'floors 0 to 3 are pure': lowFloorsArePure,
  'importing a file does nothing': importingDoesNothing,
  'there is no module state': noModuleState,
  'files are short': filesAreShort,
  'functions are short': functionsAreShort,
  'names say what is inside': namesSayWhatIsInside,
  'index.ts is the table of a family': indexIsATable,
  'exports are named': exportsAreNamed,
  'types are honest': typesAreHonest,
  'tests stand where their unit stands': testsStandWhereTheirUnitStands,
  'names are of the field': namesAreOfTheField,
  'no banned words': noBannedWords,
  'members are in their table': membersAreInTheirTable,
  'members are named as their file': membersAreNamedAsTheirFile,
  'members are tested': membersAreTested,
  'members are documented': membersAreDocumented,
  'documents name what exists': documentsNameWhatExists,
  'npm scripts exist': scriptsExist,
  'prose is native English': proseIsNative,
  'dialects are named at home': dialectsAreNamedAtHome,
} as const satisfies { readonly [name: string]: Rule };

export type RuleName = keyof typeof rules;
