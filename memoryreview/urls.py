"""Addresses: pages for people, `/api/v1/` and `/hooks/v1/` for agents."""

from __future__ import annotations

from django.urls import include, path

from memoryreview.review.api.urls import hook_urlpatterns, stray_urlpatterns
from memoryreview.review.api.urls import urlpatterns as api_urlpatterns
from memoryreview.review.views.urls import urlpatterns as page_urlpatterns

urlpatterns = [
    path("api/v1/", include(api_urlpatterns)),
    path("hooks/v1/", include(hook_urlpatterns)),
    path("api/", include(stray_urlpatterns)),
    path("hooks/", include(stray_urlpatterns)),
    path("", include(page_urlpatterns)),
]

handler400 = "memoryreview.review.views.errors.bad_request"
handler403 = "memoryreview.review.views.errors.permission_denied"
handler404 = "memoryreview.review.views.errors.page_not_found"
handler500 = "memoryreview.review.views.errors.server_error"
