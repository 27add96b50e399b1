-- Search engines and video sites whose safe mode is enforced for a group.

-- Up Migration
CREATE TABLE safe_search_configs (
  group_id     integer NOT NULL REFERENCES groups ON DELETE CASCADE,
  engine       text NOT NULL,
  enabled      boolean NOT NULL,
  youtube_mode text NOT NULL CHECK (youtube_mode IN ('strict', 'moderate')), -- only YouTube has two modes
  PRIMARY KEY (group_id, engine)
);

-- Down Migration
DROP TABLE safe_search_configs;
