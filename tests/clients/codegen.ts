import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
  schema: "../../schema/schema.graphql",
  documents: "src/operations.graphql",
  generates: {
    "src/generated/graphql.ts": {
      plugins: ["typescript-operations", "typed-document-node"],
      config: { scalars: { DateTime: "string" }, useTypeImports: true, enumsAsTypes: true },
    },
  },
};

export default config;
