"""Filters that several lists use."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date

if TYPE_CHECKING:
    from django.contrib.admin import FieldListFilter as RangeFilter
else:
    from unfold.contrib.filters.admin import RangeDateFilter as RangeFilter


class DayRangeFilter(RangeFilter):
    """From one day to another, both included, in the time zone of the person who asks."""

    parameter_name: str

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        first, last = self._day("from"), self._day("to")
        if first:
            queryset = queryset.filter(**{f"{self.parameter_name}__gte": _midnight(first)})
        if last:
            after = _midnight(last + timedelta(days=1))
            queryset = queryset.filter(**{f"{self.parameter_name}__lt": after})
        return queryset

    def _day(self, end: str) -> date | None:
        """What cannot be read as a day, or lies beyond the calendar, narrows nothing."""
        try:
            day = parse_date(str(self.used_parameters.get(f"{self.parameter_name}_{end}", "")))
        except ValueError:
            return None
        return day if day and 1900 <= day.year <= 9000 else None


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
