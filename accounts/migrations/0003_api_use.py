"""The use of the API: rate buckets, which PostgreSQL need not log, and idempotency keys as hashes."""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_subject_deletion'),
    ]

    operations = [
        migrations.CreateModel(
            name='Rate',
            fields=[
                ('bucket', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('full_at', models.DateTimeField()),
                ('allowed', models.BooleanField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        # One row is written for each request: without the log no commit waits for the disk, and a crash only fills the
        # buckets. Room on the pages keeps the updates out of the indexes.
        migrations.RunSQL(
            'ALTER TABLE accounts_rate SET UNLOGGED; ALTER TABLE accounts_rate SET (fillfactor = 50)',
            migrations.RunSQL.noop,
        ),
        migrations.CreateModel(
            name='IdempotentRequest',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key_hash', models.BinaryField(max_length=32)),
                ('body_hash', models.BinaryField(max_length=32)),
                ('attempt', models.PositiveIntegerField(default=1)),
                ('turn_id', models.UUIDField(null=True)),
                ('finish_reason', models.CharField(blank=True, max_length=40)),
                ('created_at', models.DateTimeField()),
                ('claimed_at', models.DateTimeField()),
                ('api_key', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apikey')),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['created_at'], name='idempotent_request_by_age')],
                'constraints': [models.UniqueConstraint(fields=('api_key', 'key_hash'), name='idempotent_request_once')],
            },
        ),
    ]
