"""Projects: listed, made, changed, archived, restored, left."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.registry.models import Project
from apps.registry.models.project import SLUG
from apps.registry.selectors import visible_project, visible_projects
from apps.registry.services import members, projects

ARCHIVED = {"true": True, "false": False, "any": None}


class ProjectSerializer(serializers.ModelSerializer[Project]):
    archived = serializers.BooleanField(
        source="is_archived", read_only=True, help_text="Hidden from lists, refuses new work."
    )

    class Meta:
        model = Project
        fields = (
            "id",
            "slug",
            "name",
            "description",
            "archived",
            "archived_at",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


@extend_schema_serializer(
    examples=[OpenApiExample("A project", {"name": "Apollo", "slug": "apollo"}, request_only=True)]
)
class NewProject(Body):
    name = Text(max_length=120, help_text="What people call it.")
    slug = Text(
        max_length=63,
        required=False,
        validators=[SLUG],
        help_text="The name in addresses; made from the name when missing. It never changes.",
    )
    description = Text(max_length=4000, required=False, allow_blank=True)


class ProjectChange(Body):
    name = Text(max_length=120)
    description = Text(max_length=4000, allow_blank=True)


class ProjectQuery(Query):
    q = Text(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="Words in the name, short name or description.",
    )
    archived = Choice(
        choices=list(ARCHIVED), default="false", help_text="Which ones: archived, active or any."
    )


class ProjectList(Door):
    tag = "projects"
    ordering = ("-created_at", "id")

    @extend_schema(
        operation_id="list_projects",
        parameters=[ProjectQuery],
        responses=ProjectSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the projects you are a member of, newest first."""
        asked = self.filters(ProjectQuery)
        found = visible_projects(
            self.person, q=asked.get("q", ""), archived=ARCHIVED[asked["archived"]]
        )
        return self.page(found, ProjectSerializer)

    @extend_schema(
        operation_id="create_project", request=NewProject, responses={201: ProjectSerializer}
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a project; you become its owner."""
        body = self.accept(NewProject)
        project = projects.create_project(actor=self.person, **body)
        where = reverse("api:project", kwargs={"slug": project.slug}, request=request)
        shown = ProjectSerializer(project).data
        return Response(shown, status=status.HTTP_201_CREATED, headers={"Location": where})


class ProjectDetail(Door):
    tag = "projects"

    @extend_schema(operation_id="read_project", responses=ProjectSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Read one project."""
        return Response(ProjectSerializer(visible_project(self.person, slug)).data)

    @extend_schema(
        operation_id="change_project", request=ProjectChange, responses=ProjectSerializer
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change a project's name or description."""
        project = visible_project(self.person, slug)
        body = self.accept(ProjectChange, partial=True)
        changed = projects.update_project(actor=self.person, project=project, **body)
        return Response(ProjectSerializer(changed).data)


class ProjectArchive(Door):
    tag = "projects"

    @extend_schema(operation_id="archive_project", request=None, responses=ProjectSerializer)
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Archive a project: hidden from lists, nothing deleted."""
        project = visible_project(self.person, slug)
        archived = projects.archive_project(actor=self.person, project=project)
        return Response(ProjectSerializer(archived).data)


class ProjectRestore(Door):
    tag = "projects"

    @extend_schema(operation_id="restore_project", request=None, responses=ProjectSerializer)
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Bring an archived project back."""
        project = visible_project(self.person, slug)
        restored = projects.restore_project(actor=self.person, project=project)
        return Response(ProjectSerializer(restored).data)


class ProjectLeave(Door):
    tag = "projects"

    @extend_schema(operation_id="leave_project", request=None, responses={204: None})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Give up your own roles in a project; its last owner stays."""
        project = visible_project(self.person, slug)
        members.leave_project(actor=self.person, project=project)
        return Response(status=status.HTTP_204_NO_CONTENT)
