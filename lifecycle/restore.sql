-- Between the data and the constraints of a restore (docs/keys.md): the two dumps are of two moments, and what only one
-- of them knows would break the foreign keys between them.

-- Keys of organizations that were founded after the older dump.
DELETE FROM encryption_organizationkey
    WHERE NOT EXISTS (SELECT FROM accounts_organization WHERE accounts_organization.id = organization_id);

-- Providers whose key was replaced between the dumps. They name a variable that nobody sets, so that their test says
-- "misconfigured" until an operator types the key again; without any key two at one address would be the same provider.
UPDATE agents_provider
    SET secret_id = NULL, api_key_env = 'LOST_' || upper(replace(id::text, '-', '')) || '_API_KEY'
    WHERE secret_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM encryption_secret WHERE encryption_secret.id = secret_id);

-- Secrets of providers that the other dump does not have: nothing could use them.
DELETE FROM encryption_secret
    WHERE NOT EXISTS (SELECT FROM agents_provider WHERE agents_provider.secret_id = encryption_secret.id);
