-- Grants for a service: all its names, as the catalog or the custom service has them.

-- Up Migration

ALTER TABLE grants ADD COLUMN service_id text,
  -- A release that does not know the column covers this reserved name, and not every name.
  ADD CONSTRAINT grants_service_name CHECK (service_id IS NULL OR domain = 'service.invalid' AND NOT subdomains);

-- Policy reads the names of a custom service with its grants; they end with it.
CREATE FUNCTION note_granted_service() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM grants WHERE service_id = OLD.service_id;
  ELSIF EXISTS (SELECT FROM grants WHERE service_id = NEW.service_id) THEN
    UPDATE table_versions SET version = gen_random_uuid() WHERE name = 'grants';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER custom_services_grants AFTER UPDATE OR DELETE ON custom_services
  FOR EACH ROW EXECUTE FUNCTION note_granted_service();
