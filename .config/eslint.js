// The lint rules. Type information is enabled everywhere: the most important rules here (floating promises, exhaustive
// switches) depend on it. Import rules are in dependency-cruiser.cjs next to this file; layout is up to prettier.
import { resolve } from 'node:path';
import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const root = resolve(import.meta.dirname, '..');

export default defineConfig(
  {
    ignores: ['node_modules/', 'data/', 'coverage/', 'control-plane/dashboard/dist/', 'test/bench/results/'],
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [js.configs.recommended, tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: root } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      // The code has just checked the bounds of an index into a typed array; `!` states this without a run-time check.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Weir has no enums. The compiler already treats two classes with the same private member as distinct types.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Async methods without an await implement interfaces whose other implementations need an await.
      '@typescript-eslint/require-await': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
      'no-shadow': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'PrivateIdentifier',
          message: 'Write `private name`: all private members are declared alike.',
        },
      ],
      'prefer-const': 'error',
      'max-depth': ['error', 4],
      'max-lines': ['error', { max: 400 }],
      'max-params': ['error', 5],
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'node:http',
              message: 'Its import also loads undici: take it from shared/lazy-builtins.ts.',
              allowTypeImports: true,
            },
          ],
        },
      ],
    },
  },
  {
    // Tables of test cases are long.
    files: ['**/*.test.ts', 'test/**/*.ts'],
    rules: {
      'max-lines': 'off',
      '@typescript-eslint/no-restricted-imports': 'off',
    },
  },
  {
    files: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'fast-check',
              message: 'Its inputs differ in each run: take it from test/support/parts/fast-check.ts.',
            },
          ],
        },
      ],
    },
  },
  {
    // Runs in a browser, with its own compiler options. Markup is long; logic belongs in `.ts`.
    files: ['control-plane/dashboard/**/*.ts', 'control-plane/dashboard/**/*.tsx'],
    plugins: { 'react-hooks': reactHooks },
    languageOptions: {
      parserOptions: { project: './control-plane/dashboard/tsconfig.json', tsconfigRootDir: root },
    },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    },
  },
  {
    // Terminal output is the purpose of these files.
    files: ['control-plane/cli/**/*.ts', 'test/bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
);
